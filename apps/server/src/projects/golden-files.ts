import {
  goldenPathPattern,
  type GoldenScreen,
  GoldenScreenError,
  maxGoldenBytes,
  parseGolden,
} from '@phalanx/protocol';

import { findExcess } from '../http/bodies/json-bounds.ts';
import type { SavedFiles } from './project-files.ts';

/** Of the nodes that a golden screen may have, each with its bounds. */
const bounds = { depth: 1000, names: 250_000, values: 300_000, objects: 2 * 20_000 + 10 };

/** The paths of golden screens, in order. */
export const listGoldenPaths = async (files: SavedFiles, most: number): Promise<string[]> =>
  [...(await files.list()).keys()]
    .filter((path) => goldenPathPattern.test(path))
    .toSorted()
    .slice(0, most);

/** A golden screen, or why it can't be read. */
export async function readGoldenFile(
  files: SavedFiles,
  path: string,
): Promise<GoldenScreen | { problem: string }> {
  const file = await files.readUpTo(path, maxGoldenBytes);
  if (file === undefined || !('text' in file)) return { problem: `is larger than ${maxGoldenBytes} bytes` };
  const excess = findExcess(Buffer.from(file.text), bounds);
  if (excess !== undefined) return { problem: excess };
  try {
    return parseGolden(file.text);
  } catch (error) {
    if (error instanceof GoldenScreenError) return { problem: error.message };
    throw error;
  }
}

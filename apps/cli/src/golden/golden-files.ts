import path from 'node:path';
import {
  goldenFolder,
  goldenPathPattern,
  GoldenScreenError,
  type GoldenRun,
  goldenRunPattern,
  parseGolden,
  parseGoldenRun,
  type GoldenScreen,
} from '@phalanx/protocol';

import { usageError } from '../exit-codes.ts';
import { LocalPathError, readLocalFile, textOf } from '../project/local-files.ts';

export interface GoldenFile {
  /** Path from the project's folder, with `/`. */
  file: string;
  golden: GoldenScreen;
}

/** Reads the golden screens among the files of a project folder. */
export async function readGoldenFiles(root: string, paths: readonly string[]): Promise<GoldenFile[]> {
  const found = paths.filter((file) => goldenPathPattern.test(file));
  return Promise.all(
    found.map(async (file) => ({ file, golden: await readGolden(root, file, parseGolden) })),
  );
}

export interface GoldenRunFile {
  file: string;
  golden: GoldenRun;
}

/** Reads the golden runs among the files of a project folder. */
export async function readGoldenRuns(root: string, paths: readonly string[]): Promise<GoldenRunFile[]> {
  const found = paths.filter((file) => goldenRunPattern.test(file));
  return Promise.all(
    found.map(async (file) => ({ file, golden: await readGolden(root, file, parseGoldenRun) })),
  );
}

async function readGolden<Golden>(
  root: string,
  file: string,
  parse: (text: string) => Golden,
): Promise<Golden> {
  try {
    return parse(textOf(await readLocalFile(root, file)));
  } catch (error) {
    const isKnown = error instanceof GoldenScreenError || error instanceof LocalPathError;
    if (isKnown) throw usageError(`${file} ${error.message}.`);
    throw error;
  }
}

/** Returns a folder or file name for any text: letters, digits, `-` and `_`. */
function fileNameOf(text: string): string {
  const name = text.normalize('NFKD').replaceAll(/[^A-Za-z0-9_]+/g, '-');
  return name.replaceAll(/^-+|-+$/g, '').slice(0, 60) || 'screen';
}

export const goldenRunPath = (name: string): string =>
  path.posix.join(goldenFolder, 'runs', `${fileNameOf(name)}.json`);

export const goldenPath = (state: string, name: string): string =>
  path.posix.join(goldenFolder, fileNameOf(state), `${fileNameOf(name)}.json`);

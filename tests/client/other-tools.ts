import path from 'node:path';
import { pathToFileURL } from 'node:url';

export const root = path.join(import.meta.dirname, '../..');

/** Whether `npm run set-up:tests` has installed the tools. */
export const areOtherToolsHere = !(process.env['TEST_WITHOUT'] ?? '').split(' ').includes('other-tools');

/** Returns the path of a file in one of their packages. */
export const otherTool = (...names: readonly string[]): string =>
  path.join(root, 'node_modules/.cache/phalanx-other-tools/node_modules', ...names);

export const otherToolUrl = (...names: readonly string[]): string => pathToFileURL(otherTool(...names)).href;

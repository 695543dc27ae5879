import { existsSync } from 'node:fs';
import path from 'node:path';

/** Where the PATH has the program. */
export function findProgram(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name} is not in the PATH`);
  return found;
}

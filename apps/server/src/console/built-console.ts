import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export interface BuiltFile {
  readonly type: string;
  /** By content coding; `identity` is the file as it is. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

/** The files of the console by their path from its root, such as `assets/index-Bx3.js`. */
export interface BuiltConsole {
  readonly page: string;
  readonly files: ReadonlyMap<string, BuiltFile>;
}

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};
const codings: Record<string, string> = { '.br': 'br', '.gz': 'gzip' };

/** Reads what the build has written; it is about two megabytes, and never changes while it is served. */
export async function readBuiltConsole(folder: string): Promise<BuiltConsole> {
  const page = await readFile(path.join(folder, 'index.html'), 'utf8');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, { type: string; bodies: Map<string, Buffer> }>();
  for (const entry of entries.filter((one) => one.isFile())) {
    const place = path.join(entry.parentPath, entry.name);
    const coding = codings[path.extname(place)];
    const name = path
      .relative(folder, coding === undefined ? place : place.slice(0, -3))
      .replaceAll('\\', '/');
    const type = types[path.extname(name)];
    if (type === undefined) continue;
    const file = files.get(name) ?? { type, bodies: new Map() };
    files.set(name, file);
    file.bodies.set(coding ?? 'identity', await readFile(place));
  }
  return { page, files };
}

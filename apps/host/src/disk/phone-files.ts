import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

const end = '.json';

/** Serial numbers contain characters that file names may not contain. */
export const phoneFileName = (serial: string): string =>
  `${createHash('sha256').update(serial).digest('hex').slice(0, 32)}${end}`;

interface PhoneFiles<Content> {
  readonly dir: string;
  /** Throws when the JSON has another shape. */
  readonly parse: (json: unknown) => Content;
  readonly log: Logger;
  /** Log message for an unreadable file. */
  readonly unreadable: string;
}

/**
 * Reads a folder with one JSON file per phone, keyed by file name. Creates a missing folder and skips unreadable files.
 */
export async function readPhoneFiles<Content>(files: PhoneFiles<Content>): Promise<Map<string, Content>> {
  const { dir, parse, log, unreadable } = files;
  await mkdir(dir, { recursive: true });
  const contents = new Map<string, Content>();
  for (const name of (await readdir(dir)).filter((one) => one.endsWith(end))) {
    try {
      contents.set(name, parse(JSON.parse(await readFile(join(dir, name), 'utf8'))));
    } catch (error) {
      log.warn({ err: error, file: name }, unreadable);
    }
  }
  return contents;
}

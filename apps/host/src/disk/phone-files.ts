import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

const end = '.json';

/** Serial numbers have characters that names of files may not have. */
export const phoneFileName = (serial: string): string =>
  `${createHash('sha256').update(serial).digest('hex').slice(0, 32)}${end}`;

interface PhoneFiles<Content> {
  readonly dir: string;
  /** Throws when it is something else. */
  readonly parse: (json: unknown) => Content;
  readonly log: Logger;
  /** Log message for a file that can't be read. */
  readonly unreadable: string;
}

/** A folder with a JSON file for each phone, by their names. It is made when it is not there. A file that can't be read is left out. */
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

import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { maxFileBytes } from '@phalanx/protocol';

import { LocalPathError } from './local-path.ts';

/** The bytes of a file, which must not have become a symbolic link meanwhile. Throws a `LocalPathError`. */
export async function readLocalFile(root: string, file: string): Promise<Buffer> {
  const handle = await open(path.join(root, file), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    (error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      throw new LocalPathError(`it cannot be read (${code})`);
    },
  );
  try {
    const { size } = await handle.stat();
    if (size > maxFileBytes)
      throw new LocalPathError(`it has ${size} bytes; a file may have ${maxFileBytes}`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** What JSON can carry. Throws a `LocalPathError`. */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new LocalPathError('it is not UTF-8 text: push it with git');
}

import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

interface WriteOptions {
  readonly mode?: number;
  /** Whether the content survives a power loss. Default: no. */
  readonly flush?: boolean;
}

/** Writes a temporary file and renames it, so that a crash never leaves a partial file. */
export async function replaceFile(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  await writeFile(`${path}.tmp`, text, options);
  await rename(`${path}.tmp`, path);
}

/** Replaces a file in the same way. Once this resolves, the file survives a power loss. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  await writeDurably(`${path}.tmp`, [Buffer.from(text)]);
  await rename(`${path}.tmp`, path);
  await syncFolder(dirname(path));
}

/** Writes a file whose content survives a power loss; its name does not yet. */
export async function writeDurably(path: string, parts: readonly Buffer[]): Promise<void> {
  await using file = await open(path, 'w');
  for (const part of parts) await file.writeFile(part);
  await file.sync();
}

export async function syncFolder(path: string): Promise<void> {
  // Windows has no handles of folders, so opening one fails there.
  await using folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync();
}

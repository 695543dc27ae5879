import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

interface WriteOptions {
  readonly mode?: number;
  /** Whether the content outlives a loss of power. Default: no. */
  readonly flush?: boolean;
}

/** Writes a file beside and renames it, so that a crash leaves no half of it. */
export async function replaceFile(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  await writeFile(`${path}.tmp`, text, options);
  await rename(`${path}.tmp`, path);
}

/** Replaces a file likewise; when it resolves, the file outlives a loss of power. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  await writeDurably(`${path}.tmp`, [Buffer.from(text)]);
  await rename(`${path}.tmp`, path);
  await syncFolder(dirname(path));
}

/** Writes a file that outlives a loss of power; its name does not yet. */
export async function writeDurably(path: string, parts: readonly Buffer[]): Promise<void> {
  await using file = await open(path, 'w');
  for (const part of parts) await file.writeFile(part);
  await file.sync();
}

export async function syncFolder(path: string): Promise<void> {
  // Windows has no handles of folders.
  await using folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync();
}

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { ownFolder } from './local-path.ts';
import { writeBelow } from './write-own-file.ts';

/**
 * The files as folder and server both had them last, by path: the version of the content. What differs from it here was
 * changed here, what differs on the server was changed there.
 */
export type BaseFiles = Map<string, string>;

const Base = Compile(Type.Object({ files: Type.Record(Type.String(), Type.String()) }));
const baseFile = `${ownFolder}/base.json`;

/** The version that the server gives to a file with this content: git's name for it. */
export function contentVersion(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  return `"${hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex')}"`;
}

/** Without a record, or with a damaged one, everything counts as changed on both sides: nothing is overwritten. */
export async function readBase(root: string): Promise<BaseFiles> {
  try {
    const value: unknown = JSON.parse(await readFile(path.join(root, baseFile), 'utf8'));
    return Base.Check(value) ? new Map(Object.entries(value.files)) : new Map();
  } catch {
    return new Map();
  }
}

export async function writeBase(root: string, base: BaseFiles): Promise<void> {
  const files = Object.fromEntries([...base].sort(([one], [other]) => (one < other ? -1 : 1)));
  await writeBelow(root, baseFile, `${JSON.stringify({ files }, null, 1)}\n`);
}

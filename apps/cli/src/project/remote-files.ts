import { fileRoutes } from '@phalanx/protocol';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { ApiRefusal, type ApiClient, readAll } from '../api-client.ts';
import { ownFolder, writeBelow } from './local-files.ts';

const Base = Compile(Type.Object({ files: Type.Record(Type.String(), Type.String()) }));
const baseFile = `${ownFolder}/base.json`;

/** The files of a project on the server. */
export class RemoteFiles {
  readonly #api: ApiClient;
  readonly #params: { id: string };

  constructor(api: ApiClient, projectId: string) {
    this.#api = api;
    this.#params = { id: projectId };
  }

  /** The version of each file, by path, and that of all together as it was when the list began. */
  async list(): Promise<{ etag: string; versions: ReadonlyMap<string, string> }> {
    const etags: string[] = [];
    const files = await readAll(
      (query) => this.#api.call(fileRoutes.list, { params: this.#params, query }),
      (page) => {
        etags.push(page.etag);
        return page.files.filter(({ change }) => change !== 'deleted');
      },
    );
    return { etag: etags[0] ?? '', versions: new Map(files.map((file) => [file.path, file.etag])) };
  }

  /** `not text` for a file that came by git and that JSON can't hold. */
  async find(filePath: string): Promise<{ text: string } | 'not text' | undefined> {
    try {
      const { content } = await this.#api.call(fileRoutes.read, {
        params: this.#params,
        query: { path: filePath },
      });
      return { text: content };
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error;
      if (error.code === 'file_not_text') return 'not text';
      if (error.code === 'file_not_found') return undefined;
      throw error;
    }
  }
}

/**
 * The files as folder and server both had them last, by path: the version of the content. A file that differs
 * from it here was changed here; one that differs on the server was changed there.
 */
export type BaseFiles = Map<string, string>;

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

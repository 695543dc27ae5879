import { fileRoutes } from '@phalanx/protocol';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import { ServiceError } from '@phalanx/client/service-errors';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { ownFolder, writeBelow } from './local-files.ts';

const Base = Compile(Type.Object({ files: Type.Record(Type.String(), Type.String()) }));
const baseFile = `${ownFolder}/base.json`;

/** Files of a project on the server. */
export class RemoteFiles {
  readonly #api: ApiClient;
  readonly #params: { id: string };

  constructor(api: ApiClient, projectId: string) {
    this.#api = api;
    this.#params = { id: projectId };
  }

  /** Returns the version of each file, by path, and the version of all files together when the list began. */
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

  /** Reads a file. Returns `not text` for a file that came by git and that JSON cannot contain. */
  async find(filePath: string): Promise<{ text: string } | 'not text' | undefined> {
    try {
      const { content } = await this.#api.call(fileRoutes.read, {
        params: this.#params,
        query: { path: filePath },
      });
      return { text: content };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'file_not_text') return 'not text';
      if (error.code === 'file_not_found') return undefined;
      throw error;
    }
  }
}

/**
 * Last common state of folder and server: the version of each file's content, by path. A local file that differs from
 * it was changed here. A file on the server that differs from it was changed there.
 */
export type BaseFiles = Map<string, string>;

/** Returns the version that the server gives to a file with this content: its git blob hash. */
export function contentVersion(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  return `"${hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex')}"`;
}

/** Reads the last common state. If it is missing or damaged, all files count as changed on both sides, so are kept. */
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

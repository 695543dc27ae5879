import { fileRoutes } from '@phalanx/protocol';

import { ApiRefusal, type ApiClient } from '../api-client.ts';
import { readAll } from '../read-all.ts';

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
    return { etag: etags[0] ?? '', versions: new Map(files.map(({ path, etag }) => [path, etag])) };
  }

  /** `not text` for a file that came by git and that JSON can't hold. */
  async find(path: string): Promise<{ text: string } | 'not text' | undefined> {
    try {
      const { content } = await this.#api.call(fileRoutes.read, { params: this.#params, query: { path } });
      return { text: content };
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error;
      if (error.code === 'file_not_text') return 'not text';
      if (error.code === 'file_not_found') return undefined;
      throw error;
    }
  }
}

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

  async list(): Promise<string[]> {
    const files = await readAll(
      (query) => this.#api.call(fileRoutes.list, { params: this.#params, query }),
      (page) => page.files,
    );
    return files.filter(({ change }) => change !== 'deleted').map((file) => file.path);
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

  async write(path: string, content: string): Promise<void> {
    await this.#api.call(fileRoutes.write, { params: this.#params, body: { path, content } });
  }

  async delete(path: string): Promise<void> {
    await this.#api.call(fileRoutes.delete, { params: this.#params, query: { path } });
  }
}

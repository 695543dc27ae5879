import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { ApiCaller, ApiReply } from '../../../testing/api-caller.ts';
import { stringAt } from '../../../testing/string-at.ts';
import type { TestServer } from '../../../testing/test-server.ts';

export interface Ran {
  code: number;
  /** Standard output and error together, as in a terminal. */
  text: string;
}

/** Runs git as a user would, without the configuration of this machine. */
export function runUserGit(folder: string, args: readonly string[], input = ''): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.org',
  };
  return new Promise((resolve) => {
    const options = { env, maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' as const };
    const child = execFile('git', ['-C', folder, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, text: stdout + stderr });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Project as one of its users sees it. */
export class TestProject {
  readonly id: string;
  readonly api: ApiCaller;

  constructor(id: string, api: ApiCaller) {
    this.id = id;
    this.api = api;
  }

  static async create(api: ApiCaller, name = `Demo ${crypto.randomUUID()}`): Promise<TestProject> {
    const { body, text, status } = await api('POST', '/api/v2/automation-project', { body: { name } });
    if (status !== 201) throw new Error(text);
    return new TestProject(stringAt(body['project'], 'id'), api);
  }

  as(api: ApiCaller): TestProject {
    return new TestProject(this.id, api);
  }

  write(file: string, content: unknown): Promise<ApiReply> {
    return this.api('PUT', `/api/v2/automation/file/${this.id}`, { body: { path: file, content } });
  }

  /** Writes a file. Throws unless the reply is 200. */
  async put(file: string, content: string): Promise<void> {
    const { status, text } = await this.write(file, content);
    if (status !== 200) throw new Error(text);
  }

  /** Returns the ETag of all files together. */
  async etag(): Promise<string> {
    return stringAt((await this.api('GET', `/api/v2/automation/files/${this.id}`)).body, 'etag');
  }

  replace(
    contents: Readonly<Record<string, string>>,
    { deleted = [], etag }: { deleted?: readonly string[]; etag: string },
  ): Promise<ApiReply> {
    const files = Object.entries(contents).map(([file, content]) => ({ path: file, content }));
    const body = { files, deleted, expected_etag: etag };
    return this.api('PUT', `/api/v2/automation/files/${this.id}`, { body });
  }

  read(file: string): Promise<ApiReply> {
    return this.api('GET', `/api/v2/automation/file/${this.id}?path=${encodeURIComponent(file)}`);
  }

  /** Returns the content of a file. Undefined when there is no such file. */
  async content(file: string): Promise<string | undefined> {
    const { status, text, body } = await this.read(file);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(text);
    return stringAt(body, 'content');
  }

  remove(file: string): Promise<ApiReply> {
    return this.api('DELETE', `/api/v2/automation/file/${this.id}?path=${encodeURIComponent(file)}`);
  }

  /** Returns the change of each file, by path. */
  async changes(): Promise<Record<string, string>> {
    const { body, text } = await this.api('GET', `/api/v2/automation/files/${this.id}`);
    if (!Array.isArray(body['files'])) throw new Error(text);
    return Object.fromEntries(
      body['files'].map((file: unknown) => [stringAt(file, 'path'), stringAt(file, 'change')]),
    );
  }

  commit(message: unknown): Promise<ApiReply> {
    return this.api('POST', `/api/v2/automation/commit/${this.id}`, { body: { message } });
  }

  /** Commits and returns the hash. Throws unless the reply is 201. */
  async mustCommit(message = 'change'): Promise<string> {
    const { body, text, status } = await this.commit(message);
    if (status !== 201) throw new Error(text);
    return stringAt(body['commit'], 'hash');
  }

  commits(cursor?: string): Promise<ApiReply> {
    const query = cursor === undefined ? '' : `?cursor=${cursor}`;
    return this.api('GET', `/api/v2/automation/commits/${this.id}${query}`);
  }

  diff(): Promise<ApiReply> {
    return this.api('GET', `/api/v2/automation/diff/${this.id}`);
  }

  revert(hash: string): Promise<ApiReply> {
    return this.api('POST', `/api/v2/automation/revert/${this.id}`, { body: { hash } });
  }

  delete(): Promise<ApiReply> {
    return this.api('DELETE', `/api/v2/automation-project/${this.id}`);
  }
}

export const cloneUrl = (server: TestServer, token: string, projectId: string): string =>
  `${server.url.replace('http://', `http://x:${token}@`)}/git/${projectId}.git`;

/** Returns the path of the (first) server's repository of a project, with the refs that a client sees now. */
export async function gitDirOf(
  { dataDir, urls }: Pick<TestServer, 'dataDir' | 'urls'>,
  { api, id }: TestProject,
): Promise<string> {
  // Sends one request per server, so that the first server gets one too.
  for (const _url of urls) {
    const { status, text } = await api('GET', `/git/${id}.git/info/refs?service=git-upload-pack`);
    if (status !== 200) throw new Error(text);
  }
  return path.join(dataDir, 'project-cache', `${id}.git`);
}

/** Returns the output of `git fsck --strict`. Empty when the repository is intact. */
export async function findDamage(gitDir: string): Promise<string> {
  const { code, text } = await runUserGit(gitDir, ['fsck', '--strict', '--full', '--no-dangling']);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('notice: '));
  return code === 0 ? lines.join('\n') : `exit ${code}: ${text}`;
}

/** Temporary folders that are removed together. */
export class TestFolders {
  readonly #folders: string[] = [];

  make(): string {
    const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-projects-'));
    this.#folders.push(folder);
    return folder;
  }

  async removeAll(): Promise<void> {
    for (const folder of this.#folders.splice(0)) await rm(folder, { recursive: true, force: true });
  }
}

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { commitRoutes, fileRoutes, projectRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { RepeatedWork } from '../../support/repeated-work.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { BalancedApi } from '../balanced-api.ts';
import type { Load } from './load.ts';

const run = promisify(execFile);
const Created = Compile(
  Type.Object({ project: Type.Object({ id: Type.String(), clone_path: Type.String() }) }),
);
const Read = Compile(Type.Object({ content: Type.String() }));

interface Options {
  api: BalancedApi;
  random: SeededRandom;
}

interface Project {
  readonly id: string;
  readonly clonePath: string;
}

const editorCount = 3;
const fileNames = ['first.txt', 'second.txt'];
/** Maximum number of lines of a file, so that it stays small. */
const maxLines = 400;

/**
 * Three users who edit the same files of a project: each appends a line to the version that it has read, unless the
 * file has changed.
 */
export class Saves implements Load {
  readonly violations: string[] = [];
  readonly counts = { saves: 0, conflicts: 0, commits: 0 };
  readonly #options: Options;
  readonly #project: Project;
  readonly #callers = new RepeatedWork();
  /** Lines acknowledged with 200, by file. */
  readonly #saved = new Map(fileNames.map((name) => [name, new Set<string>()]));

  private constructor(options: Options, project: Project) {
    this.#options = options;
    this.#project = project;
    this.#callers.begin(editorCount, () => this.#edit());
  }

  static async begin(options: Options): Promise<Saves> {
    const { api } = options;
    const { body, text } = await api.call('POST', projectRoutes.create.path, {
      name: `edited ${randomUUID()}`,
    });
    if (!Created.Check(body)) throw new Error(`no project was made: ${text}`);
    const { id, clone_path: clonePath } = body.project;
    for (const name of fileNames) {
      const reply = await api.call('PUT', fileRoutes.write.path.replace(':id', id), {
        path: name,
        content: '',
      });
      if (reply.status !== 200) throw new Error(`no file was made: ${reply.text}`);
    }
    return new Saves(options, { id, clonePath });
  }

  end(): Promise<void> {
    return this.#callers.end();
  }

  async check(): Promise<void> {
    const { api } = this.#options;
    const contents = await Promise.all(fileNames.map(async (name) => (await this.#read(name)).content));
    for (const [at, name] of fileNames.entries()) this.#requireLines(name, contents[at] ?? '');
    // Commits the saved files, because clones contain only commits.
    await api.call('POST', commitRoutes.commit.path.replace(':id', this.#project.id), { message: 'the end' });
    for (const url of api.urls) await this.#requireClone(url, contents);
  }

  #requireLines(name: string, content: string): void {
    const lines = content.split('\n').slice(0, -1);
    const missing = this.#saved.get(name)?.difference(new Set(lines)) ?? new Set();
    if (missing.size > 0)
      this.violations.push(`${name} has lost ${missing.size} lines: ${[...missing].join(' ')}`);
    if (new Set(lines).size < lines.length) this.violations.push(`${name} has a line twice: ${content}`);
  }

  /** Requires that a clone from each server has the same content and passes git's check. */
  async #requireClone(url: string, contents: readonly string[]): Promise<void> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-clone-'));
    const { host } = new URL(url);
    const address = `http://phalanx:${this.#options.api.token}@${host}${this.#project.clonePath}`;
    try {
      await run('git', ['clone', '--quiet', address, folder]);
      await run('git', ['-C', folder, 'fsck', '--full', '--strict']);
      const cloned = await Promise.all(fileNames.map((name) => readFile(path.join(folder, name), 'utf8')));
      if (cloned.join() !== contents.join()) this.violations.push(`a clone of ${url} has other files`);
      const { stdout } = await run('git', ['-C', folder, 'rev-list', '--count', 'HEAD']);
      if (Number(stdout) < this.counts.commits)
        this.violations.push(`a clone of ${url} has ${stdout} commits`);
    } catch (error) {
      this.violations.push(`a clone of ${url} failed: ${String(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #read(name: string): Promise<{ content: string; etag: string }> {
    const place = `${fileRoutes.read.path.replace(':id', this.#project.id)}?path=${name}`;
    const { body, text, etag } = await this.#options.api.call('GET', place);
    if (!Read.Check(body)) this.violations.push(`a file could not be read: ${text}`);
    return { content: Read.Check(body) ? body.content : '', etag };
  }

  async #edit(): Promise<void> {
    const { random } = this.#options;
    await pause(random.below(500));
    if (random.below(10) === 0) return this.#commit();
    const name = random.pick(fileNames);
    const { content, etag } = await this.#read(name);
    if (content.split('\n').length < maxLines) await this.#save(name, { content, etag });
  }

  /** Saves a file. A lost reply leaves the outcome open. */
  async #save(name: string, { content, etag }: { content: string; etag: string }): Promise<void> {
    const line = randomUUID();
    const place = fileRoutes.write.path.replace(':id', this.#project.id);
    const body = { path: name, content: `${content}${line}\n` };
    const reply = await this.#options.api.attempt('PUT', place, body, { headers: { 'if-match': etag } });
    if (reply?.status === 200) {
      this.#saved.get(name)?.add(line);
      this.counts.saves += 1;
    } else if (reply?.status === 412) this.counts.conflicts += 1;
    else if (reply !== undefined) this.violations.push(`a save was answered with ${reply.text}`);
  }

  async #commit(): Promise<void> {
    const place = commitRoutes.commit.path.replace(':id', this.#project.id);
    const reply = await this.#options.api.attempt('POST', place, { message: 'so far' });
    if (reply?.status === 201) this.counts.commits += 1;
    else if (reply !== undefined && !reply.text.includes('"nothing_to_commit"'))
      this.violations.push(`a commit was answered with ${reply.text}`);
  }
}

import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Type } from 'typebox';

import { ask, type Api } from '../http/api.ts';
import type { SampleFiles } from './sample-project.ts';

const run = promisify(execFile);
const Created = Type.Object({ project: Type.Object({ id: Type.String(), clone_path: Type.String() }) });

/** Creates an empty project. */
export async function createProject(api: Api): Promise<{ id: string; cloneUrl: string }> {
  const { project } = await ask(api, '/api/v2/automation-project', Created, {
    name: `bench ${crypto.randomUUID()}`,
  });
  const cloneUrl = new URL(project.clone_path, api.url);
  cloneUrl.username = 'bench';
  cloneUrl.password = api.token;
  return { id: project.id, cloneUrl: cloneUrl.href };
}

/** Creates a project with these files, committed by one push from `folder`. Returns its ID. */
export async function pushProject(api: Api, folder: string, files: SampleFiles): Promise<string> {
  const { id, cloneUrl } = await createProject(api);
  for (const [name, content] of files) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...args], { cwd: folder });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '--message=start');
  await git('push', '--quiet', cloneUrl, 'main');
  return id;
}

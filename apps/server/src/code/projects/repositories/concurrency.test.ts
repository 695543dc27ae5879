import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ApiCaller } from '../../../testing/api-caller.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { findDamage, gitDirOf, TestProject } from '../testing/test-projects.ts';

let server: TestServer;
let api: ApiCaller;

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = await server.createCaller('ann'));
});
afterAll(() => server.dispose());

const times = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

it('lets 24 writers of one project all succeed, compiled files too', async () => {
  const project = await TestProject.create(api);
  const replies = await times(24, (index) =>
    project.write(`folder-${index % 5}/file-${index}.ts`, `export const value: number = ${index};\n`),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(24).fill(200));
  expect(Object.keys(await project.changes())).toHaveLength(24);
  for (const index of [0, 11, 23])
    expect(await project.content(`folder-${index % 5}/file-${index}.js`)).toContain(`value = ${index};`);
  await project.mustCommit();
  expect(await findDamage(await gitDirOf(server, project))).toBe('');
});

it('lets 24 writers of one file all succeed, and keeps what one of them wrote as a pair', async () => {
  const project = await TestProject.create(api);
  const replies = await times(24, (index) =>
    project.write('main.ts', `export const value: number = ${index};\n`),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(24).fill(200));
  const value = /= (\d+);/.exec((await project.content('main.ts')) ?? '')?.[1];
  expect(await project.content('main.js')).toContain(`value = ${value};`);
});

/** Writes more projects at a time than the 96 that stay open. */
it('lets more projects be written at a time than it keeps open', async () => {
  const projects = await times(100, () => TestProject.create(api));
  const replies = await Promise.all(projects.map((project) => project.write('a.txt', project.id)));
  expect(replies.map(({ status }) => status)).toEqual(Array(100).fill(200));
  const contents = await Promise.all(projects.map((project) => project.content('a.txt')));
  expect(contents).toEqual(projects.map(({ id }) => id));
});

it('shows every reader a source and what it was compiled to as one, while they change', async () => {
  const project = await TestProject.create(api);
  await project.put('main.ts', 'export const value: number = 0;\n');
  const state = { isWriting: true };
  const write = async (): Promise<void> => {
    for (let value = 1; value <= 15; value += 1)
      await project.put('main.ts', `export const value: number = ${value};\n`);
    state.isWriting = false;
  };
  const read = async (): Promise<void> => {
    while (state.isWriting) {
      const { body } = await api('GET', `/api/v2/automation/files/${project.id}`);
      expect(body['files']).toMatchObject([{ path: 'main.ts', compiled_path: 'main.js' }]);
      expect(await project.content('main.js')).toMatch(/value = \d+;/);
    }
  };
  await Promise.all([write(), read(), read()]);
});

it('gives commits that race with writes a tree that was once saved', async () => {
  const project = await TestProject.create(api);
  const write = async (): Promise<void> => {
    for (let value = 0; value < 10; value += 1) {
      await project.put('a.txt', `${value}`);
      await project.put('b.txt', `${value}`);
    }
  };
  const hashes: string[] = [];
  const commit = async (): Promise<void> => {
    for (let count = 0; count < 10; count += 1) {
      const { body } = await project.commit(`commit ${count}`);
      const hash = (body['commit'] as { hash: string } | undefined)?.hash;
      if (hash !== undefined) hashes.push(hash);
    }
  };
  await Promise.all([write(), commit()]);
  for (const hash of hashes) {
    await project.revert(hash);
    const [a, b] = [Number(await project.content('a.txt')), Number((await project.content('b.txt')) ?? -1)];
    expect([0, 1]).toContain(a - b);
  }
  expect(await findDamage(await gitDirOf(server, project))).toBe('');
});

it('deletes a project under its writers', async () => {
  const project = await TestProject.create(api);
  await project.put('a.txt', 'a');
  const replies = await Promise.all([
    ...Array.from({ length: 16 }, (_, index) => project.write(`file-${index}.txt`, 'text')),
    project.delete(),
    ...Array.from({ length: 16 }, (_, index) => project.write(`more-${index}.txt`, 'text')),
  ]);
  for (const { status, text } of replies)
    expect([status === 200 || status === 404, text]).toEqual([true, text]);
  expect((await project.read('a.txt')).status).toBe(404);
  await server.restart();
  expect((await project.read('a.txt')).status).toBe(404);
});

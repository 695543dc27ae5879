import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { groupRoutes, projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CliResult } from '../testing/cli-process.ts';
import { TestService } from '../testing/test-service.ts';

let service: TestService;
let id: string;
let folder: string;
let group: string;

const code = (settings: string): string => `
await runStages({
  states: { Home: { id: 'workspace' }, Settings: ${settings}, End: { id: 'the_end' } },
  maxUnknownLooks: 2,
  stages: [{ name: 'leave', reached: 'End', on: {
    Home: () => agent.actions.launchApp('com.android.settings'),
    Settings: () => agent.actions.home(),
  } }],
});
`;

const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);
const replay = (...args: string[]): Promise<CliResult> =>
  service.run(['replay', 'shop', ...args], { cwd: folder });

beforeAll(async () => {
  service = await TestService.start(1);
  id = (await service.api.call(projectRoutes.create, { body: { name: 'shop' } })).project.id;
  folder = path.join(service.folder, 'shop');
  await mkdir(folder);
  await write('main.ts', code("{ id: 'nowhere' }"));
  for (const args of [
    ['project', 'link', 'shop'],
    ['project', 'push'],
  ])
    expect(await service.run(args, { cwd: folder })).toMatchObject({ code: 0 });
  await service.run(['run', '--device', 'SIM0001'], { cwd: folder });
  const { groups } = await until(
    'a group',
    () => service.api.call(groupRoutes.list, { query: { automation_id: id } }),
    (reply) => reply.groups.length === 1,
  );
  group = groups[0]?.id ?? '';
});
afterAll(() => service.stop());

describe('"phalanx replay"', () => {
  test('replays the files of a folder that are not pushed, on one group or all', async () => {
    expect(await replay('--group', group)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('With the saved files: 0 of 1 screen of this group known'),
    });
    await write('main.ts', code("'Airplane mode'"));
    const drafted = await replay('--draft', '--group', group, '--changed');
    expect(drafted).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /newly recognised[^]*With this draft: 1 of 1 screen of this group known, 1 handled, 1 newly recognised/,
      ),
    });
    expect((await replay('--changed')).stdout).toContain('With the saved files: 0 of 1 screen known');
    const elsewhere = await service.run(['replay', 'shop', '--draft', '--dir', folder, '--json']);
    expect(JSON.parse(elsewhere.stdout)).toMatchObject({ replay: { draft: true, counts: { known: 1 } } });
  });

  test('says what keeps it from it', async () => {
    await write('main.ts', 'let a = ;');
    expect(await replay('--draft')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('main.ts(1,9)'),
    });
    expect(await replay('--group', id)).toMatchObject({ stderr: expect.stringContaining('was not found') });
    expect(await replay('--dir', '.')).toMatchObject({ code: 2 });
    expect(await replay('--draft', '--commit', 'abcdef1')).toMatchObject({ code: 2 });
    const other = await service.run(['replay', 'shop', '--draft', '--dir', 'missing']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('is no folder') });
  });
});

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { groupRoutes, projectRoutes, recordRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { CliResult } from '../../testing/cli-process.ts';
import { TestService } from '../../testing/test-service.ts';

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

  test('tells where the run of a real record would have gone otherwise', async () => {
    const sample = await readFile(new URL('../../../samples/out-of-steps.ts', import.meta.url), 'utf8');
    const own = path.join(service.folder, 'sample');
    await mkdir(own);
    const run = (...args: string[]): Promise<CliResult> => service.run(args, { cwd: own });
    const save = (text: string): Promise<void> => writeFile(path.join(own, 'main.ts'), text);
    await save(sample);
    const { project } = await service.api.call(projectRoutes.create, { body: { name: 'sample' } });
    for (const args of [
      ['project', 'link', 'sample'],
      ['project', 'push'],
      ['project', 'commit', '--message', 'the sample'],
    ])
      expect(await run(...args)).toMatchObject({ code: 0 });
    await run('run', '--device', 'SIM0001');
    const { result } = await until(
      'a record',
      () => service.api.call(recordRoutes.list, { query: { automation_id: project.id } }),
      (reply) => reply.result !== null,
    );
    const record = result?.out_of_steps_id ?? '';
    const replayed = await until(
      'the trees of the record',
      () => run('replay', 'sample', '--record', record),
      ({ stderr }) => !stderr.includes('has no tree'),
    );
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^With commit \w{8}: all \d\d screens as the record tells\.$/m),
    });
    expect(await run('records', 'keep', record, '--run', '--name', 'sample')).toMatchObject({
      code: 0,
      stdout: 'screens/runs/sample.json\n',
    });
    expect(await readFile(path.join(own, 'screens/runs/sample.json'), 'utf8')).not.toContain('Ada Lovelace');
    expect(await run('test')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 golden run as/) });
    await save(sample.replace('Enjoying this app?', 'Do you like this app?'));
    expect(await run('test')).toMatchObject({ code: 4, stdout: expect.stringContaining('RateDialog') });
    expect(await run('records', 'keep', record, '--run', '--name', 'other')).toMatchObject({ code: 4 });
    const reworded = await run('replay', 'sample', '--record', record, '--draft');
    expect(reworded).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /^With this draft: screen \d: RateDialog on the way to "four taps" → unknown on the way to "four taps"\.$/m,
      ),
    });
    await save(sample.replace('taps === 4', 'taps === 5'));
    const fifth = await run('replay', 'sample', '--record', record, '--draft');
    expect(fifth).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /screen \d: SurpriseApp, app\.launch on dev\.phalanx\.sample\.crash → SurpriseApp, input\.tap on \w+ #tap_me/,
      ),
    });
    const told = await run('replay', 'sample', '--record', record, '--draft', '--json');
    expect(JSON.parse(told.stdout)).toMatchObject({
      replay: {
        mode: 'sequence',
        record_id: record,
        sequence: { own_code: 'same', result: { in: 'calls' } },
      },
    });
  });

  test('says what keeps it from it', async () => {
    await write('main.ts', 'let a = ;');
    expect(await replay('--draft')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('main.ts(1,9)'),
    });
    expect(await replay('--group', id)).toMatchObject({ stderr: expect.stringContaining('was not found') });
    expect(await replay('--dir', '.')).toMatchObject({ code: 2 });
    expect(await replay('--group', group, '--record', group)).toMatchObject({ code: 2 });
    expect(await replay('--draft', '--commit', 'abcdef1')).toMatchObject({ code: 2 });
    const other = await service.run(['replay', 'shop', '--draft', '--dir', 'missing']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a folder') });
  });
});

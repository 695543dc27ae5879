import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { groupRoutes, type RecordGroup } from '@phalanx/protocol';
import { until } from '@phalanx/host/testing/until';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { CliResult } from '../../../testing/cli-process.ts';
import { TestService } from '../../../testing/test-service.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await TestService.start(1);
  folder = path.join(service.folder, 'taps');
});
afterAll(() => service.stop());

const phalanx = (...args: string[]): Promise<CliResult> => service.run(args, { cwd: folder });

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await phalanx(...args);
  if (code !== 0) throw new Error(`phalanx ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
  return stdout;
}

const readMain = (): Promise<string> => readFile(path.join(folder, 'main.ts'), 'utf8');

async function theGroup(): Promise<RecordGroup> {
  const [group] = await until(
    'a group',
    async () => (await service.api.call(groupRoutes.list)).groups,
    ({ length }) => length > 0,
  );
  if (group === undefined) throw new Error('there is no group');
  return group;
}

/** The automation of the tutorial, which does not know the dialog. */
async function readTutorial(): Promise<string> {
  const page = await readFile(new URL('../../../../../../docs/tutorial.md', import.meta.url), 'utf8');
  return /```ts\n([^]*?)```/.exec(page)?.[1] ?? '';
}

test('an unknown screen is known, proved and solved by commands alone', { timeout: 600_000 }, async () => {
  await service.run(['project', 'create', 'Five taps', '--dir', 'taps']);
  await writeFile(path.join(folder, 'main.ts'), await readTutorial());
  await done('project', 'push');
  await done('project', 'commit', '-m', 'the first one');
  expect((await phalanx('run', '--device', 'SIM0001', '--follow')).code).toBe(4);
  const { id, sample } = await theGroup();
  expect(await done('groups')).toContain(id);
  expect((await phalanx('replay', 'Five taps')).stdout).toContain('0 of 1 screen known');
  await done('records', 'keep', sample?.record_id ?? '', '--state', 'RateDialog');
  expect((await phalanx('test')).code).toBe(4);
  await done('project', 'push');

  const fix = [id, '--kind', 'dialog', '--state', 'RateDialog'];
  const shown = await done('groups', 'propose', ...fix);
  expect(shown).toMatch(/^1 +'Enjoying this app\?' +1\/1 +0\/[1-9]/m);
  expect(shown).toContain("+      when: 'Enjoying this app?',");
  expect(shown).toContain("+      do: (screen) => screen.findById('android:id/button2')?.tap(),");

  // Local changes to the file are not lost.
  const before = await readMain();
  await writeFile(path.join(folder, 'main.ts'), `${before}// mine\n`);
  expect((await phalanx('groups', 'propose', ...fix, '--write')).stderr).toContain('nothing was written');
  expect(await readMain()).toBe(`${before}// mine\n`);
  await writeFile(path.join(folder, 'main.ts'), before);
  expect((await phalanx('groups', 'propose', ...fix, '--write', '--sign', '9')).code).toBe(2);

  expect(await done('groups', 'propose', ...fix, '--write')).toContain('main.ts.');
  expect(await readMain()).toContain("name: 'RateDialog'");
  expect(await done('test')).toContain('as expected');
  await done('project', 'push');
  expect(await done('replay', 'Five taps')).toContain('1 of 1 screen known, 1 handled, 1 newly recognised');
  await done('project', 'commit', '-m', `Closes the dialog\n\nSolves ${id}`);
  await until('the proof', theGroup, ({ status, proved }) => status === 'solved' && proved === 'yes');
  await done('run', '--device', 'SIM0001', '--follow');
  expect((await theGroup()).status).toBe('solved');
});

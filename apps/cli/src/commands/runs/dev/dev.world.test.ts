import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@phalanx/host/testing/until';
import {
  deviceControlRoutes,
  deviceRoutes,
  fileRoutes,
  projectRoutes,
  runRoutes,
  type Run,
} from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { inheritedEnvironment } from '../../../testing/cli-process.ts';
import { TestService } from '../../../testing/test-service.ts';

const main = fileURLToPath(new URL('../../../main.ts', import.meta.url));
const endless = 'console.log("goes on"); await new Promise(() => setInterval(() => 0, 1000));\n';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(2);
});
afterAll(() => service.stop());

/** Creates a folder that is linked to a new project. */
async function createProject(name: string, code: string): Promise<{ cwd: string; id: string }> {
  const { project } = await service.api.call(projectRoutes.create, { body: { name } });
  const cwd = path.join(service.folder, name);
  await mkdir(cwd);
  expect(await service.run(['project', 'link', project.id], { cwd })).toMatchObject({ code: 0 });
  await writeFile(path.join(cwd, 'main.ts'), code);
  return { cwd, id: project.id };
}

const runsOf = async (automationId: string): Promise<Run[]> =>
  (await service.api.call(runRoutes.list, { query: { automation_id: automationId } })).runs;

async function leaseOf(serial: string): Promise<unknown> {
  const { devices } = await service.api.call(deviceRoutes.list);
  return devices.find((device) => device.serial === serial)?.lease;
}

test('each save is pushed, checked and run, with the errors beside the own lines, until a signal', async () => {
  const { cwd, id } = await createProject('loop', 'console.log("first of all");\n');
  await writeFile(path.join(cwd, 'old.ts'), 'export const old = 1;\n');
  const save = (code: string): Promise<void> => writeFile(path.join(cwd, 'main.ts'), code);
  const dev = service.spawn(['dev', '--device', 'SIM0001'], { cwd });
  await dev.printed((stdout) => stdout.includes('first of all') && /^screen [0-9a-f]{8}-/m.test(stdout));
  expect(await leaseOf('SIM0001')).not.toBeNull();

  await save('const n: number = 1;\nconst text: string = n;\nconsole.log(text);\n');
  await dev.printed((_, stderr) => stderr.includes('    2 | const text: string = n;\n      |       ^'));
  expect(dev.stderr).toContain('would not compile');

  await rm(path.join(cwd, 'old.ts'));
  await save('console.log("second");\nthrow new Error("no luck");\n');
  await dev.printed((_, stderr) => stderr.includes('    2 | throw new Error("no luck");\n'));
  expect(dev.stdout).toContain('second');
  const { files } = await service.api.call(fileRoutes.list, { params: { id } });
  expect(files.map((file) => file.path)).not.toContain('old.ts');

  await save(endless);
  await dev.printed((stdout) => stdout.includes('goes on'));
  await save('console.log("instead of it");\n');
  await dev.printed((stdout) => stdout.includes('instead of it'));
  expect((await runsOf(id)).map(({ status }) => status)).toContain('stopped');

  dev.signal('SIGTERM');
  expect(await dev.result()).toMatchObject({ code: 143 });
  expect(await leaseOf('SIM0001')).toBeNull();
});

test('keys of a terminal run again, stop, take control of the phone and quit', async () => {
  const { cwd, id } = await createProject('keys', endless);
  const words = [process.execPath, main, 'dev', '--device', 'SIM0002'].join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', words, '/dev/null'], {
    cwd,
    env: { ...inheritedEnvironment(), HOME: '/nowhere', TERM: 'dumb', ...service.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const shows = (what: string, isThere: () => boolean): Promise<unknown> =>
    until(what, () => Promise.resolve(shown), isThere);
  const times = (text: string): number => shown.split(text).length - 1;

  await shows('the first run', () => times('goes on') === 1);
  expect(shown).toContain('q quits');
  child.stdin.write('r');
  await shows('another run', () => times('goes on') === 2);
  child.stdin.write('s');
  await shows('the end of it', () => times('was stopped') === 2 && /^screen [0-9a-f]{8}-/m.test(shown));
  child.stdin.write('t');
  await shows('where to control it', () => /http:\S+\/devices\/\S+\?tab=control/.test(shown));
  await writeFile(path.join(cwd, 'main.ts'), `${endless}// Changed.\n`);
  await shows('a push without a run', () => times('pushed    main.ts') === 2);
  expect(await runsOf(id)).toHaveLength(2);
  child.stdin.write('r');
  await shows('a third run', () => times('goes on') === 3);
  child.stdin.write('q');
  expect(await closed).toEqual([0, null]);
  expect((await runsOf(id)).map(({ status }) => status)).toEqual(['stopped', 'stopped', 'stopped']);
  expect(await leaseOf('SIM0002')).toBeNull();
});

test('it says which phones there are when several are free, and who has the one that is wanted', async () => {
  const { cwd } = await createProject('choice', endless);
  expect(await service.run(['dev'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('SIM0002'),
  });
  const { devices } = await service.api.call(deviceRoutes.list);
  const id = devices.find(({ serial }) => serial === 'SIM0001')?.device_id ?? '';
  const body = { exclusive: true };
  await service.api.call(deviceControlRoutes.lease, { params: { id }, body });
  const refused = await service.run(['dev', '--device', 'SIM0001'], { cwd });
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('SIM0001') });
  expect(await service.run(['dev', '--device', 'none'], { cwd })).toMatchObject({ code: 3 });
  expect((await service.run(['dev'], { cwd: service.folder })).stderr).toContain('belongs to no project');
});

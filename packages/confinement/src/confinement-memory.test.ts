import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFiles } from './index.ts';
import { openMemoryGroup } from './confinement.ts';
import { launcherOptions } from './policy.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;
let folder: string;
let self: string;
let group: string;

/** Simulates the kernel's files, because few machines delegate a control group to the user who runs the tests. */
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-groups-'));
  self = path.join(folder, 'self');
  group = path.join(folder, 'cgroup', 'service');
  for (const each of [self, group]) mkdirSync(each, { recursive: true });
  writeFileSync(path.join(self, 'cgroup'), '4:memory:/old\n0::/service\n');
  writeFileSync(
    path.join(self, 'mountinfo'),
    `30 23 0:26 / ${folder}/cgroup rw,nosuid - cgroup2 cgroup2 rw\n`,
  );
  writeFileSync(path.join(group, 'cgroup.controllers'), 'cpu memory pids\n');
  writeFileSync(path.join(group, 'memory.max'), `${400 * megabyte}\n`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = () => openMemoryGroup({ self, processId: 4711 });
const written = (...names: string[]): string => readFileSync(path.join(group, ...names), 'utf8');

describe('a control group that is handed over', () => {
  it('gets a part for the service, and one with three quarters of the memory for what is confined', async () => {
    const procs = path.join(group, 'phalanx-confined', 'cgroup.procs');
    expect(await open()).toEqual({ kind: 'limited', procs, maxBytes: 300 * megabyte });
    expect(written('phalanx-service', 'cgroup.procs')).toBe('4711');
    expect(written('cgroup.subtree_control')).toBe('+memory');
    expect(written('phalanx-confined', 'memory.max')).toBe(String(300 * megabyte));
  });

  it('is found again by a service that starts in its own part', async () => {
    await open();
    writeFileSync(path.join(self, 'cgroup'), '0::/service/phalanx-service\n');
    expect(await open()).toMatchObject({ kind: 'limited' });
  });
});

it.each([
  ['there is no cgroup v2', () => writeFileSync(path.join(self, 'cgroup'), '4:memory:/\n'), 'no cgroup v2'],
  [
    'its group has no memory',
    () => writeFileSync(path.join(group, 'cgroup.controllers'), 'cpu'),
    'limit memory',
  ],
  ['its group is not its own', () => rmSync(group, { recursive: true }), 'Delegate=memory'],
])('says why not when %s', async (_, arrange, says) => {
  arrange();
  expect(await open()).toMatchObject({ kind: 'none', reason: expect.stringContaining(says) });
});

const mounted = /^\d+ \d+ \S+ \/ (\S+) .* - cgroup2 /m.exec(
  readFileSync('/proc/self/mountinfo', 'utf8'),
)?.[1];
const real = path.join(mounted ?? '/nowhere', `phalanx-test-${process.pid}`);

it.runIf(process.getuid?.() === 0 && mounted !== undefined)('the launcher joins it', async () => {
  const launcher = path.join(import.meta.dirname, '..', 'native', `confine-linux-${process.arch}`);
  mkdirSync(real);
  try {
    const groupFile = path.join(real, 'cgroup.procs');
    const options = launcherOptions(nodeFiles(), { emptyNetwork: false, ownRoot: false, groupFile });
    const code = `console.log(require('node:fs').readFileSync('/proc/self/cgroup', 'utf8'))`;
    const args = [...options, '--', process.execPath, '--openssl-config=/dev/null', '--eval', code];
    const { stdout } = await run(launcher, args);
    expect(stdout).toContain(`0::/${path.basename(real)}\n`);
  } finally {
    if (existsSync(real)) rmdirSync(real);
  }
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Program } from '../support/program.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const timeLimitMs = 900_000;
const [base, image] = ['localhost/phalanx-test-node', 'localhost/phalanx-test'];

/** Requires root, buildah, debootstrap and the network, and takes some minutes. */
describe.runIf(process.env['TEST_IMAGE'] === 'true')('the image', () => {
  let home: string;
  let container: string;
  let service: Program;

  const inContainer = (...command: string[]): string[] => [
    'run',
    '--isolation=chroot',
    `--volume=${home}:/var/lib/phalanx:rw`,
    '--env=HOME=/var/lib/phalanx',
    container,
    '--',
    ...command,
  ];
  /** Runs a command below the volume, as its user. */
  async function shell(line: string): Promise<string> {
    const { stdout } = await run('buildah', inContainer('sh', '-c', `cd && ${line}`));
    return stdout;
  }

  beforeAll(async () => {
    await run(fileURLToPath(new URL('build-base.sh', import.meta.url)), [base], { maxBuffer: 1e8 });
    const recipe = ['-f', 'deploy/Containerfile', '--build-arg', `NODE=${base}`, '-t', image, '.'];
    await run('buildah', ['bud', '--isolation=chroot', ...recipe], { cwd: repository, maxBuffer: 1e8 });
    container = (await run('buildah', ['from', image])).stdout.trim();
    home = await mkdtemp(path.join(tmpdir(), 'phalanx-image-'));
    await run('chown', ['47374:47374', home]);
    const settings = ['--listen', '127.0.0.1:0', '--adb-server', 'off', '--simulated-phones', '1'];
    service = new Program(inContainer('phalanx', 'start', ...settings), {}, { program: ['buildah'] });
  }, timeLimitMs);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await run('buildah', ['rm', container]);
    await run('buildah', ['rmi', image, base]);
    await rm(home, { recursive: true });
  }, timeLimitMs);

  test('runs the service as nobody of the machine, with user code confined', async () => {
    expect((await shell('id -u')).trim()).toBe('47374');
    await service.printed(/User code is confined by Landlock/);
    await service.printed(/Git, compiling and large bodies reach their own files alone/);
  });

  test(
    'a project is saved, run and read with the command line that it brings',
    async () => {
      const [, url = ''] = await service.printed(/Phalanx is at (\S+)/);
      await shell(`phalanx login --server-url ${url} --token-file first-token`);
      await shell('phalanx project create checkout');
      await expect.poll(() => shell('phalanx devices'), { timeout: 300_000 }).toMatch(/SIM0001 +ready/);
      const output = await shell(
        'cd checkout && phalanx project push && phalanx run --device SIM0001 --follow',
      );
      expect(output).toContain('Hello from');
    },
    timeLimitMs,
  );
});

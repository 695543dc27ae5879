import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const units = path.join(repository, 'deploy/systemd');
const withoutComponents = (process.env['TEST_WITHOUT'] ?? '').split(' ');
/** Of ten, as systemd counts what a service could do to its machine; its "OK" ends at 5. */
const mostExposure = 4.5;

async function namedSettings(file: string): Promise<readonly string[]> {
  return [...new Set((await readFile(file, 'utf8')).match(/\bPHALANX_[A-Z_]+/g))];
}

test('every setting that a file for deployment names is one of Phalanx', async () => {
  const known = new Set(await namedSettings(path.join(repository, 'docs/reference.md')));
  const files = await readdir(path.join(repository, 'deploy'), { recursive: true, withFileTypes: true });
  const named = await Promise.all(
    files.filter((one) => one.isFile()).map((one) => namedSettings(path.join(one.parentPath, one.name))),
  );
  expect(named.flat()).not.toHaveLength(0);
  expect(named.flat().filter((name) => !known.has(name))).toEqual([]);
});

describe.skipIf(withoutComponents.includes('docker-compose'))('compose.yaml', () => {
  test('is valid', async () => {
    const file = path.join(repository, 'deploy/compose.yaml');
    const { stdout } = await run('docker-compose', ['-f', file, 'config', '--services']);
    expect(stdout.trim().split('\n').toSorted()).toEqual(['adb', 'phalanx']);
  });
});

describe.skipIf(withoutComponents.includes('systemd-analyze'))('units', async () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'phalanx-units-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(await readdir(units))(
    '%s is valid, and leaves the service little of its machine',
    async (name) => {
      const unit = await readFile(path.join(units, name), 'utf8');
      const file = path.join(folder, name);
      // What it starts need not be installed here.
      await writeFile(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
      const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file]);
      expect(stderr).toBe('');
      await run('systemd-analyze', ['security', '--offline=true', `--threshold=${mostExposure * 10}`, file]);
    },
  );
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { Program } from './support/program.ts';

let folder: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-start-'));
  dataDir = path.join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function expectRefusal(command: string, env: Record<string, string>, says: RegExp): Promise<void> {
  const program = new Program([command], { PHALANX_ADB_SERVER: 'off', PHALANX_LOG_LEVEL: 'silent', ...env });
  await program.exited;
  const lines = program.output.trim().split('\n');
  expect({ code: program.exitCode, lines }).toEqual({ code: 2, lines: [expect.stringMatching(says)] });
}

const settings: Record<string, Record<string, string>> = {
  server: { PHALANX_LISTEN: '127.0.0.1:0' },
  start: { PHALANX_LISTEN: '127.0.0.1:0' },
  host: { PHALANX_TOKEN: 'phx_any' },
};

test.each(Object.entries(settings))(
  'phalanx %s says in one line, with exit code 2, that its data folder is a file',
  async (command, env) => {
    writeFileSync(dataDir, '');
    const says = /^The folder .*data is a file\. .*PHALANX_DATA_DIR/;
    await expectRefusal(command, { ...env, PHALANX_DATA_DIR: dataDir }, says);
  },
);

test('phalanx start says in one line, with exit code 2, that there is no git', () =>
  expectRefusal(
    'start',
    { PHALANX_LISTEN: '127.0.0.1:0', PHALANX_DATA_DIR: dataDir, PATH: folder },
    /^git cannot be used, it was not found: projects need git 2\.38 or newer in the PATH\.$/,
  ));

test('the demo says in one line, with exit code 2, that there is no folder for temporary files', () =>
  expectRefusal('demo', { TMPDIR: `${folder}/none` }, /^The folder .*none cannot be made\. .*TMPDIR/));

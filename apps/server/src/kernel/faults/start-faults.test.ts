import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SettingError } from '@phalanx/settings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startServer } from '../../app.ts';
import { parseServerConfig } from '../../config.ts';
import { SmallDisk } from '../../testing/engines/small-disk.ts';

let folder: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-start-'));
  dataDir = path.join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function expectRefusal(env: Record<string, string>, says: RegExp): Promise<void> {
  const config = parseServerConfig({
    PHALANX_LISTEN: '127.0.0.1:0',
    PHALANX_DATA_DIR: dataDir,
    PHALANX_LOG_LEVEL: 'silent',
    ...env,
  });
  const error: unknown = await startServer(config).then(
    (server) => server.close(),
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(SettingError);
  expect(String(error)).toMatch(says);
  expect(String(error)).not.toContain('\n');
}

describe('a start says in one line that its data folder', () => {
  it('is a file', async () => {
    writeFileSync(dataDir, '');
    await expectRefusal(
      {},
      /The folder .* is a file\. Put that right, or set PHALANX_DATA_DIR to another folder\.$/,
    );
  });

  it('lies below a file', async () => {
    writeFileSync(dataDir, '');
    await expectRefusal({ PHALANX_DATA_DIR: `${dataDir}/below` }, /lies below a file\./);
  });

  it('is a link in a circle', async () => {
    symlinkSync(dataDir, dataDir);
    await expectRefusal({}, /The folder .*\./);
  });

  it.each(['captures', 'project-packs', 'project-cache', 'logs', 'git'])(
    'has a file where its folder %s should be',
    async (name) => {
      mkdirSync(dataDir);
      writeFileSync(path.join(dataDir, name), '');
      await expectRefusal({}, /The folder .*\./);
    },
  );
});

const canMount = ((disk) => (disk?.remove(), disk !== undefined))(SmallDisk.create(1));

describe.skipIf(!canMount)('a start says in one line that the disk of its data folder', () => {
  let disk: SmallDisk;

  beforeEach(() => {
    const made = SmallDisk.create(1);
    if (made === undefined) throw new Error('no disk could be mounted');
    disk = made;
  });
  afterEach(() => disk.remove());

  it('is read-only', async () => {
    disk.makeReadOnly(true);
    await expectRefusal({ PHALANX_DATA_DIR: disk.folder }, /on a disk that is read-only\./);
  });

  it('is full', async () => {
    disk.fill();
    await expectRefusal({ PHALANX_DATA_DIR: disk.folder }, /on a disk that is full\./);
  });
});

describe('a start says in one line that its database', () => {
  let file: string;

  beforeEach(() => {
    mkdirSync(dataDir);
    file = path.join(dataDir, 'phalanx.db');
  });

  it('is no database', async () => {
    writeFileSync(file, 'Dear diary, '.repeat(1000));
    await expectRefusal({}, /database file that is no database, so restore a backup/);
  });

  it('is of a newer release', async () => {
    const sqlite = new DatabaseSync(file);
    sqlite.exec(`CREATE TABLE kysely_migration (name varchar(255) PRIMARY KEY, timestamp varchar(255) NOT NULL);
      INSERT INTO kysely_migration VALUES ('999-from-the-future', '2099-01-01')`);
    sqlite.close();
    await expectRefusal({}, /The database was written by a newer release of Phalanx/);
  });

  it('is locked by another program', async () => {
    const script = `const { DatabaseSync } = require('node:sqlite');
      new DatabaseSync(process.argv[1]).exec('BEGIN EXCLUSIVE'); console.log('locked'); setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ['-e', script, file], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(other.stdout, 'data');
    await expectRefusal({}, /is in use by another server\./);
    other.kill('SIGKILL');
  });
});

describe('a start says in one line that it cannot listen', () => {
  it('because the address is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expectRefusal(
      { PHALANX_LISTEN: `127.0.0.1:${port}` },
      /127\.0\.0\.1:\d+ is taken by another program/,
    );
    taken.close();
  });

  it.each(['192.0.2.1:8080', 'no-such-machine.invalid:8080'])('at %s', (listen) =>
    expectRefusal({ PHALANX_LISTEN: listen }, /PHALANX_LISTEN .* is (not|a name)/),
  );
});

describe('a start says in one line that git', () => {
  it.each([
    ['is missing', undefined, /git cannot be used, it was not found: projects need git 2\.38 or newer/],
    ['fails', 'exit 1', /git cannot be used, it ends with errors: projects need git/],
    ['is too old', 'echo git version 2.30.2', /git 2\.30 is too old: projects need git 2\.38 or newer/],
  ])('%s', async (_how, script, says) => {
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    if (script !== undefined) {
      writeFileSync(path.join(bin, 'git'), `#!/bin/sh\n${script}\n`);
      chmodSync(path.join(bin, 'git'), 0o755);
    }
    await expectRefusal({ PATH: bin }, says);
  });
});

import { mkdtempSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { family, tryRead } from './support/processes.ts';
import { Program } from './support/program.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const token = 'a-secret-of-this-test-that-is-long-enough';
const address = { PHALANX_LISTEN: '127.0.0.1:0', PHALANX_ADB_SERVER: 'off' };
let folder: string;
let program: Program | undefined;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-secrets-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  await program?.end('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(command: string, env: Record<string, string>): Promise<Program> {
  const settings = { ...address, PHALANX_DATA_DIR: path.join(folder, 'data'), ...env };
  program = new Program([command], command === 'demo' ? env : settings);
  await program.printed(
    command === 'demo' ? /Press Ctrl-C to stop the demo/ : /Phalanx (server )?is at .*\n/,
  );
  return program;
}

async function callWith(bearer: string): Promise<number> {
  const [, url] = (await program?.printed(/is at (http:\S+)/)) ?? [];
  const reply = await fetch(`${url}/api/v2/me`, { headers: { authorization: `Bearer ${bearer}` } });
  return reply.status;
}

describe.runIf(isLinux)('a token that is given in the environment', () => {
  test('works, and no process shows it', async () => {
    const { pid = 0 } = await start('start', { PHALANX_ADMIN_TOKEN: token });
    expect(await callWith(token)).toBe(200);
    const pids = family(pid).map((one) => one.pid);
    expect(pids.length).toBeGreaterThan(2);
    for (const one of pids) {
      expect(tryRead(`/proc/${one}/environ`)).not.toContain(token);
      expect(tryRead(`/proc/${one}/cmdline`)).not.toContain(token);
    }
  });

  test('may stand in a file instead', async () => {
    const file = path.join(folder, 'token');
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    await start('server', { PHALANX_ADMIN_TOKEN_FILE: file });
    expect(await callWith(token)).toBe(200);
  });
});

describe.runIf(isLinux && isRoot)('a service that root starts', () => {
  const usersOf = (pids: readonly number[]): string[] =>
    pids.map((pid) => /^Uid:\s+(\d+)/m.exec(tryRead(`/proc/${pid}/status`))?.[1] ?? 'gone');

  test('works as another user, who owns the data folder, and says so once', async () => {
    const { pid = 0 } = await start('start', {});
    const [, said] = (await program?.printed(/runs as user (\d+)/)) ?? [];
    expect(new Set(usersOf(family(pid).map((one) => one.pid)))).not.toContain('0');
    const uid = statSync(path.join(folder, 'data')).uid;
    expect(uid).not.toBe(0);
    expect(statSync(path.join(folder, 'data', 'phalanx.db')).uid).toBe(uid);
    expect(said).toBe(String(uid));
    expect(program?.output.match(/WARNING/g)).toHaveLength(1);
  });

  test('takes up what it has left as root before', async () => {
    chmodSync(folder, 0o700);
    await start('server', { PHALANX_ADMIN_TOKEN: token });
    await program?.printed(/WARNING: Phalanx runs as root.*cannot read/);
    await program?.end();
    chmodSync(folder, 0o755);
    await start('server', { PHALANX_ADMIN_TOKEN: token });
    await program?.printed(/It runs as user/);
    expect(await callWith(token)).toBe(200);
  });

  test('leaves a folder alone that is not its own', async () => {
    const data = path.join(folder, 'data');
    rmSync(data, { recursive: true, force: true });
    writeFileSync(path.join(folder, 'letters'), '');
    await start('server', { PHALANX_DATA_DIR: folder });
    await program?.printed(/contains files that do not belong to Phalanx/);
    expect(statSync(path.join(folder, 'letters')).uid).toBe(0);
  });
});

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const phalanx = fileURLToPath(new URL('../../bin/phalanx.mjs', import.meta.url));

function makeHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), 'phalanx-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

async function run(home: string, ...words: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: home };
  return (await promisify(execFile)(process.execPath, [phalanx, ...words], { env })).stdout;
}

test('a command keeps its compiled modules where only its user writes', async () => {
  const home = makeHome();
  await run(home, '--version');
  const folder = path.join(home, '.cache', 'phalanx');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(1);
});

test('a service keeps none: it would run what it can write', async () => {
  const home = makeHome();
  await run(home, 'server', '--help');
  expect(readdirSync(home)).toEqual([]);
});

test('a home that is not there stops no command, and is not made', async () => {
  expect(await run('/dev/null/home', '--version')).toMatch(/^\d+\.\d+/);
  const missing = path.join(makeHome(), 'missing');
  expect(await run(missing, '--version')).toMatch(/^\d+\.\d+/);
  expect(existsSync(missing)).toBe(false);
});

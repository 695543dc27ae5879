import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const WRAPPER = `
import { runChild } from ${JSON.stringify(new URL('run-child.mjs', import.meta.url).href)};
runChild(process.execPath, process.argv.slice(2), process.env);
`;

let folder: string;
let wrapper: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-child-'));
  writeFileSync(join(folder, 'wrapper.mjs'), WRAPPER);
});

afterEach(() => {
  wrapper?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function start(code: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const args = [join(folder, 'wrapper.mjs'), '-e', code];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  wrapper = child;
  child.stdout.setEncoding('utf8');
  return child;
}

/** Reports its start and each signal; SIGTERM ends it with exit code 7. */
const TELLING = `
process.on('SIGINT', () => console.log('SIGINT'));
process.on('SIGTERM', () => { console.log('SIGTERM'); process.exit(7); });
setInterval(() => {}, 1000);
console.log('ready');
`;

describe('the starter of a program', () => {
  it('has its memory in few arenas, unless the environment says otherwise', async () => {
    const code = "process.stdout.write(process.env['MALLOC_ARENA_MAX'])";
    const [said] = (await once(start(code).stdout, 'data')) as [string];
    expect(said).toBe(process.env['MALLOC_ARENA_MAX'] ?? '2');
  });

  it('ends with the exit code of the program', async () => {
    expect(await once(start('process.exit(3)'), 'exit')).toEqual([3, null]);
  });

  it('ends by the signal that ended the program', async () => {
    expect(await once(start(`process.kill(process.pid, 'SIGKILL')`), 'exit')).toEqual([null, 'SIGKILL']);
  });

  it('passes a signal on once, also when npm repeats it, and lets the program end in its own way', async () => {
    const child = start(TELLING);
    await once(child.stdout, 'data');
    const told = text(child.stdout);
    child.kill('SIGINT');
    child.kill('SIGINT');
    // A program that gets two signals at once handles the later one first.
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
    expect(await told).toBe('SIGINT\nSIGTERM\n');
  });

  it.runIf(process.platform === 'linux')('ends the program when it is killed itself', async () => {
    const child = start(TELLING);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    expect(await once(child.stdout, 'data')).toEqual(['SIGTERM\n']);
  });
});

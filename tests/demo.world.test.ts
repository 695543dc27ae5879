import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Program } from './support/program.ts';

const run = promisify(execFile);
let demo: Program;

beforeAll(async () => {
  demo = new Program(['demo', '--listen', '127.0.0.1:0'], {});
  await demo.printed(/Press Ctrl-C to stop the demo/);
});
afterAll(() => demo.end('SIGKILL'));

test('it runs the sample automation and shows its logs with line numbers', () => {
  expect(demo.output).toMatch(/^\s+\d+ {2}log {4}Typed "Ada Lovelace" into name$/m);
  expect(demo.output).toMatch(/^\s+\d+ {2}log {4}The app says: Your registration is complete\.$/m);
  expect(demo.output).toMatch(/^\s+\d+ {2}warn {3}This is a warning/m);
  expect(demo.output).toMatch(/Run {5}completed after/);
  // The second sample fails on purpose, which the output announces before and confirms after.
  expect(demo.output).toMatch(/out of steps on purpose[^]*Run {5}out of steps, as intended, after/);
});

test('its three curl commands work when they are pasted at once, and again', async () => {
  const commands = demo.output.split('\n').filter((line) => line.includes('curl -s '));
  expect(commands).toHaveLength(3);
  const [devices, launch, logs] = await paste(...commands);
  expect(devices).toMatchObject({ success: true, devices: [{ state: 'ready' }] });
  expect(launch).toMatchObject({ success: true, message: 'Started on 1 device.' });
  expect(logs).toHaveProperty('logs');
  expect(await paste(commands[1])).toEqual([launch]);
  await expect.poll(async () => JSON.stringify(await paste(commands[2]))).toContain('In front:');
});

test('it ends at Ctrl-C, with success', async () => {
  await demo.end('SIGINT');
  expect(demo.exitCode).toBe(0);
});

/** Runs commands one after the other in one shell. Returns their outputs. */
async function paste(...commands: readonly (string | undefined)[]): Promise<unknown[]> {
  const between = 'printf "\\0"';
  const { stdout } = await run('bash', ['-c', commands.join(`\n${between}\n`)]);
  return stdout.split('\0').map((reply) => JSON.parse(reply));
}

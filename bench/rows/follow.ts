/**
 * Compares the time from the last line of a log until `phalanx exec --follow` exits, with 50 phones, with the time that
 * a bare Node program takes from its last line to its exit.
 *
 * Fair because both are measured from outside: when the parent receives the last line, and when the process exits. In
 * between, the command must learn that all runs have ended and that no log line is missing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const rounds = 12;
const phoneCount = 50;
const main = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
const code = 'for (let line = 1; line <= 20; line += 1) console.log(`line ${line}`);\n';

export const follow: Row = {
  name: 'follow',
  title: 'phalanx exec --follow of 50 phones, from the last line to the end of the command',
  against: 'a bare Node program, from its last line to its end',
  async measure(stage: Stage): Promise<RowResult> {
    const { api } = await startServerWithPhones(stage, phoneCount);
    const file = path.join(await stage.folder(), 'lines.ts');
    await writeFile(file, code);
    const env = { PHALANX_SERVER_URL: api.url, PHALANX_TOKEN: api.token };
    const medians = await interleave({
      rounds,
      figure: () => timeAfterLastLine([main, 'exec', file, '--all-ready', '--follow'], env),
      baseline: () => timeAfterLastLine(['--eval', "console.log('line 20')"], {}),
    });
    return { ...medians, unit: 'ms', targets: [{ of: 'figure', bound: 'at most', value: 100 }], notes: [] };
  },
};

/** Returns the time in ms from the last line on standard output until the program exits. */
async function timeAfterLastLine(args: readonly string[], env: Record<string, string>): Promise<number> {
  const program = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let messages = '';
  let lastLineAt = 0;
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    lastLineAt = performance.now();
  });
  program.stderr.setEncoding('utf8').on('data', (text: string) => (messages += text));
  const exited = once(program, 'exit').then(() => performance.now());
  await once(program, 'close');
  if (program.exitCode !== 0 || !output.includes('line 20')) throw new Error(output + messages);
  return (await exited) - lastLineAt;
}

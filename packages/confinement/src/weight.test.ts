import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

import { nodeFiles, openConfinement } from './index.ts';

const run = promisify(execFile);
const confinement = await openConfinement();

/** Returns the nice value of a confined process whose launcher starts with the given nice value. */
async function niceAfter(lost: number): Promise<number> {
  const start = { program: process.execPath, args: ['--print', 'os.getPriority()'] };
  const { program, args } = confinement.wrap(start, { ...nodeFiles(), nice: 5 });
  const env = { OPENSSL_CONF: '/dev/null' };
  const { stdout } = await run('/usr/bin/nice', ['-n', String(lost), program, ...args], { env, cwd: '/' });
  return Number(stdout);
}

it('a process weighs less than its parent, and its steps are not added to what it has lost before', async () => {
  expect([await niceAfter(0), await niceAfter(3), await niceAfter(9)]).toEqual([5, 5, 9]);
});

import { Readable } from 'node:stream';
import { expect, it } from 'vitest';

import { HookStream } from './git-exchange.ts';
import { readPush } from './read-push.ts';

const id = (digit: string): string => digit.repeat(40);
const line = (at: number): string => `${id('a')} ${id('0')} refs/heads/branch-${at}\n`;

it('reads the place of the new objects and the refs', async () => {
  const said = `/repository/quarantine\n${line(1)}${line(2)}\n`;
  const push = await readPush(new HookStream(Readable.from([Buffer.from(said)])));
  expect(push?.quarantinePath).toBe('/repository/quarantine');
  expect(push?.refs.map(({ name }) => name)).toEqual(['refs/heads/branch-1', 'refs/heads/branch-2']);
});

it('refuses refs without end before it holds them', async () => {
  let sent = 0;
  function* endless(): Generator<Buffer> {
    yield Buffer.from('/repository/quarantine\n');
    for (; sent < 100_000; sent += 1) yield Buffer.from(line(sent));
  }
  await expect(readPush(new HookStream(Readable.from(endless())))).rejects.toThrow(
    'A push moves at most 1000 branches and tags: push in smaller steps.',
  );
  expect(sent).toBeLessThan(2000);
});

it('reads nothing of a push whose git hangs up', async () => {
  expect(await readPush(new HookStream(Readable.from([Buffer.from(line(1))])))).toBeUndefined();
});

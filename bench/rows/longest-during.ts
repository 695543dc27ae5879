import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Api } from '../http/api.ts';

/** Returns the longest latency in ms of a user's reads while other work happens. `watch` is the name of a process. */
export async function longestDuring(
  watch: BenchProcess,
  api: Api,
  work: () => Promise<unknown>,
): Promise<number> {
  await watch.call('begin', api, Type.Unknown());
  try {
    await work();
  } finally {
    await sleep(100);
  }
  return watch.call('end', {}, Type.Number());
}

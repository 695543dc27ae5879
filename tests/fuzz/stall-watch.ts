// Runs in a separate process beside the fuzzer: reads as the victim and reports the latency of each reply.
import { setTimeout as sleep } from 'node:timers/promises';

const [url = '', token = ''] = process.argv.slice(2);
const everyMs = 50;

const watch = async (): Promise<void> => {
  while (process.connected) {
    const begunAt = performance.now();
    const isAnswered = await fetch(url, { headers: { authorization: `Bearer ${token}` } }).then(
      async (reply) => (await reply.arrayBuffer()).byteLength > 0 && reply.ok,
      () => false,
    );
    if (process.connected) process.send?.({ ms: performance.now() - begunAt, isAnswered });
    await sleep(everyMs);
  }
};
void watch();

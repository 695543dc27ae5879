import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { batchSize, describeViolation, fuzzApi, statusTable, type Outcome } from './campaign.ts';
import { fuzzHosts } from './host-campaign.ts';
import { fuzzPhone, PhoneWorld } from './phone-campaign.ts';
import { readOptions } from './options.ts';
import { fuzzPushes } from './push-campaign.ts';
import { World } from './world.ts';

const options = readOptions(process.argv.slice(2));
const told = { every: 20 * batchSize, stallMs: 250, checkEvery: 10 };
const Answer = Compile(Type.Object({ ms: Type.Number(), isAnswered: Type.Boolean() }));

/** Latencies of another user's requests in the meantime. */
class Waits {
  readonly #waits: number[] = [];
  #unanswered = 0;

  add(message: unknown): void {
    if (!Answer.Check(message)) return;
    this.#waits.push(message.ms);
    if (!message.isAnswered) this.#unanswered += 1;
  }

  toString(): string {
    const sorted = this.#waits.toSorted((one, other) => one - other);
    const at = (share: number): string =>
      `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`;
    const stalls = sorted.filter((ms) => ms > told.stallMs).length;
    return `another user: ${sorted.length} reads, half within ${at(0.5)}, 99 % within ${at(0.99)}, longest ${at(1)}; ${stalls} over ${told.stallMs} ms, ${this.#unanswered} without success`;
  }
}

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);

async function folderMb(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    files.map((file) =>
      stat(path.join(folder, file)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2);
}

const world = await World.create();
const waits = new Waits();
const watch = fork(fileURLToPath(new URL('stall-watch.ts', import.meta.url)), [
  `${world.url}/api/v2/automation/files/${world.victim.projectId}`,
  world.victim.token,
]);
watch.on('message', (message) => waits.add(message));

let shown = 0;
async function tell(outcome: Outcome): Promise<void> {
  for (const violation of outcome.violations.slice(shown)) console.log(describeViolation(violation));
  shown = outcome.violations.length;
  if (outcome.requests % told.every !== 0) return;
  const rate = Math.round(outcome.requests / (performance.now() / 1000));
  const size = `server ${residentMb(world.server.pid ?? 0)} MB, its folder ${await folderMb(path.join(world.folder, 'server'))} MB`;
  console.log(
    `${[...outcome.statuses].map(([status, times]) => `${status}: ${times}`).join(', ')}\n${outcome.requests} requests, ${rate} a second, ${shown} violations; ${size}; ${String(waits)}`,
  );
}

// An aborted run leaves no service behind.
process.once('exit', () => void world.server.end());
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
const outcome = await fuzzApi(world, {
  signal: stop.signal,
  seed: options.seed,
  requests: options.requests,
  atOnce: options['at-once'],
  checkEvery: told.checkEvery,
  onBatch: tell,
}).finally(() => watch.disconnect());
console.log(`${statusTable(outcome)}\n${outcome.succeeded.size} operations have succeeded\n${String(waits)}`);
const others: string[] = [];
let frames = 0;
for (; frames < options.frames && !stop.signal.aborted; frames += batchSize)
  others.push(...(await fuzzHosts(world, { seed: options.seed + frames, frames: batchSize })));
const pushed = await fuzzPushes(world, { seed: options.seed, pushes: options.pushes });
await world.close();
const phones = await PhoneWorld.create();
const tampered = await fuzzPhone(phones, { seed: options.seed, tampered: options.tampered });
await phones.close();
others.push(...pushed.violations, ...tampered.violations);
console.log(
  `${frames} frames of hosts, ${options.pushes} pushes (${pushed.taken} taken), ${tampered.changed} messages of a phone: ${others.length} violations`,
);
for (const violation of others) console.log(violation);
console.log(
  `${outcome.violations.length} violations, each with its seed: npm run lab -- fuzz --requests ${batchSize} --seed N`,
);
if (outcome.violations.length + others.length > 0) process.exitCode = 1;

/**
 * Attacks of one user, alone or together, and the latencies of all others in the meantime: reads, writes, launches
 * and stops of an ordinary user, beside a bare server (node:http) that is called in the same loop. Latencies of that
 * server are caused by the machine, not by the service.
 *
 * The attacker's own programs run on the processors of the same machine at the lowest priority; the attacker's runs
 * belong to the service.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type, type Static } from 'typebox';

import { limitSettings } from '../../apps/server/src/kernel/limits/limit-settings.ts';
import type { BenchProcess } from '../harness/bench-process.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import type { Attack } from '../attacks/attack.ts';
import { busyMachine } from '../attacks/load-attacks.ts';
import { ask, newToken, type Api } from '../http/api.ts';

const quietMs = 8000;
const playMs = 12_000;
/** Time in ms for the service to recover from the last attack. */
const settleMs = 2000;
const sampleMs = 200;
const attackersPhones = 6;
/** Fleet of nearly the maximum size per user; attacks add some more. */
const fleet = { hosts: 10, devicesPerHost: 490 };

/** Name on the command line of all attacks at once. */
export const allTogether = 'together';

const goals = { readMs: 100, changeMs: 1000, memory: 2 };

const Watched = Type.Object({
  kinds: Type.Array(
    Type.Object({
      kind: Type.String(),
      count: Type.Number(),
      p50: Type.Number(),
      p99: Type.Number(),
      longest: Type.Number(),
    }),
  ),
  refused: Type.Array(Type.String()),
});
type Watched = Static<typeof Watched>;

interface Scene {
  readonly others: BenchProcess;
  readonly attacker: BenchProcess;
  readonly server: BenchProcess;
  readonly serverId: number;
}

interface Outcome extends Watched {
  readonly name: string;
  readonly memoryMb: number;
  /** Processor time of the longest turn of the service's event loop, in ms. */
  readonly stretchMs: number;
  readonly answers: readonly string[];
}

/**
 * Measures each of `attacks` alone, then those of `together` at once; limited to the attacks named on the command
 * line, if any.
 */
async function measureAttacks(
  stage: Stage,
  attacks: readonly Attack[],
  together: readonly string[],
): Promise<RowResult> {
  const asked = stage.options.attacks;
  const isChosen = (name: string): boolean => asked.length === 0 || asked.includes(name);
  const chosen = attacks.filter(({ name }) => isChosen(name));
  let scene = await setScene(stage);
  // The first request of each kind starts processes and fills caches.
  await during(scene, 'warming up', []);
  const quiet = await during(scene, 'quiet', []);
  const outcomes: Outcome[] = [];
  for (const { name } of chosen) {
    // The last attack has ended the service.
    if (Number.isNaN(residentMb(scene.serverId))) scene = await setScene(stage);
    outcomes.push(await during(scene, name, [name]));
  }
  if (together.length > 0 && isChosen(allTogether))
    outcomes.push(await during(scene, `${together.length} together`, together));
  const after = await during(scene, 'quiet after all', []);
  return resultOf({ quiet, after }, outcomes, attacks);
}

/** Rate limits with their defaults. */
const defaultRates = Object.fromEntries(
  [limitSettings.requestsPerSecond, limitSettings.logKbPerSecond].map((one) => [one.name, one.default]),
);

/** Sets up a server, a host of an ordinary user, one of the attacker, and another fleet of the attacker. */
async function setScene(stage: Stage): Promise<Scene> {
  const admin: Api = { url: '', token: newToken() };
  const server = await stage.start('server');
  const listening = { dataDir: await stage.folder(), token: admin.token, settings: defaultRates };
  admin.url = await server.call('listen', listening, Type.String());
  const [victim, hostile] = [await createUser(admin, 'ordinary'), await createUser(admin, 'hostile')];
  const [deviceId = ''] = await startHost(stage, victim, 1);
  const deviceIds = await startHost(stage, hostile, attackersPhones);
  const devices = await stage.start('hosts');
  await devices.call('lowerPriority', {}, Type.Unknown());
  await devices.call('connect', { ...only(hostile), ...fleet, heartbeats: true }, Type.Unknown());
  const control = await (await stage.start('control-server')).call('listen', {}, Type.String());
  const others = await stage.start('others');
  await others.call('prepare', { ...only(victim), control, deviceId }, Type.Unknown());
  const attacker = await stage.start('attacker');
  await attacker.call('lowerPriority', {}, Type.Unknown());
  const given = { folder: await stage.folder(), adminToken: admin.token, userId: hostile.userId, deviceIds };
  await attacker.call('prepare', { ...only(hostile), ...given }, Type.Unknown());
  return { others, attacker, server, serverId: await server.call('pid', {}, Type.Number()) };
}

interface User extends Api {
  userId: string;
}

const only = ({ url, token }: Api): Api => ({ url, token });

async function createUser(admin: Api, name: string): Promise<User> {
  const Made = Type.Object({ user: Type.Object({ id: Type.String() }) });
  const { user } = await ask(admin, '/api/v2/users', Made, { name });
  const asked = { name, user_id: user.id, scopes: ['read', 'launch', 'edit', 'host'] };
  const { secret } = await ask(admin, '/api/v2/tokens', Type.Object({ secret: Type.String() }), asked);
  return { url: admin.url, token: secret, userId: user.id };
}

const Devices = Type.Object({
  devices: Type.Array(Type.Object({ device_id: Type.String(), state: Type.String() })),
});

async function startHost(stage: Stage, user: User, count: number): Promise<string[]> {
  const phones = await stage.start('phones');
  const ports = await phones.call('start', { count, roundTripMs: 0, nodes: 0 }, Type.Array(Type.Integer()));
  const host = await stage.start('host');
  await host.call('start', { ...only(user), dataDir: await stage.folder(), ports }, Type.Unknown());
  for (;;) {
    const { devices } = await ask(user, '/api/v2/devices?limit=1000', Devices);
    const ready = devices.filter(({ state }) => state === 'ready').map(({ device_id }) => device_id);
    if (ready.length === count) return ready;
    await sleep(sampleMs);
  }
}

async function during(scene: Scene, name: string, attacks: readonly string[]): Promise<Outcome> {
  await sleep(settleMs);
  await scene.attacker.call('begin', { names: [...attacks] }, Type.Unknown());
  await scene.others.call('begin', {}, Type.Unknown());
  await scene.server.call('watchStretch', {}, Type.Unknown());
  const memoryMb = await largestDuring(scene.serverId, attacks.length === 0 ? quietMs : playMs);
  const answers = await scene.attacker.call('end', {}, Type.Array(Type.String()));
  const watched = await scene.others.call('end', {}, Watched);
  // A service that an attack has ended yields no figure.
  const stretchMs = await scene.server.call('readStretch', {}, Type.Number()).catch(() => Number.NaN);
  const outcome = { name, memoryMb, stretchMs, answers, ...watched };
  console.error(`  ${lineOf(outcome)}`);
  return outcome;
}

/** Returns the maximum resident memory of the process in MB; NaN if it ends. */
async function largestDuring(pid: number, durationMs: number): Promise<number> {
  let largest = 0;
  for (let passedMs = 0; passedMs < durationMs; passedMs += sampleMs) {
    largest = Math.max(largest, residentMb(pid));
    await sleep(sampleMs);
  }
  return largest;
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

const kindOf = ({ kinds }: Watched, kind: string): Watched['kinds'][number] =>
  kinds.find((each) => each.kind === kind) ?? {
    kind,
    count: 0,
    p50: Number.NaN,
    p99: Number.NaN,
    longest: 0,
  };

/** Returns the missed goals. Latencies of the bare server are caused by the machine, not by the service. */
function missed(outcome: Outcome, quiet: Outcome): string[] {
  const machineMs = kindOf(outcome, 'control').p99;
  const late = ['read', 'write', 'launch', 'stop'].filter((kind) => {
    const goalMs = kind === 'read' ? goals.readMs : goals.changeMs;
    return !(kindOf(outcome, kind).p99 <= goalMs + machineMs);
  });
  const isLarge = !(outcome.memoryMb <= goals.memory * quiet.memoryMb);
  return [...late, ...(isLarge ? ['memory'] : []), ...(outcome.refused.length > 0 ? ['refusals'] : [])];
}

const ms = (value: number): string => value.toFixed(0);

function lineOf(outcome: Outcome): string {
  const waits = ['control', 'read', 'write', 'launch', 'stop'].map((kind) => {
    const { p50, p99, longest } = kindOf(outcome, kind);
    return `${kind} ${ms(p50)}/${ms(p99)}/${ms(longest)}`;
  });
  return `${outcome.name} | ${waits.join(' | ')} | loop ${ms(outcome.stretchMs)} | ${ms(outcome.memoryMb)} MB`;
}

function wordOf({ name }: Outcome, goal: readonly string[]): string {
  if (name === busyMachine) return 'not judged';
  return goal.length === 0 ? 'holds' : `MISSED: ${goal.join(', ')}`;
}

interface QuietTimes {
  /** Result before the first attack. */
  readonly quiet: Outcome;
  /** Result after the last attack: if latencies are higher than before, stored data costs time. */
  readonly after: Outcome;
}

function resultOf(
  { quiet, after }: QuietTimes,
  outcomes: readonly Outcome[],
  attacks: readonly Attack[],
): RowResult {
  const notes = outcomes.flatMap((outcome) => {
    const goal = missed(outcome, quiet);
    const was = attacks.find(({ name }) => name === outcome.name)?.before;
    return [
      `${lineOf(outcome)} | ${wordOf(outcome, goal)}`,
      ...(was === undefined ? [] : [`    reported: ${was}`]),
      ...outcome.answers.map((answer) => `    attacker: ${answer}`),
      ...outcome.refused.map((said) => `    refused to others: ${said}`),
    ];
  });
  const judged = outcomes.filter(({ name }) => name !== busyMachine);
  const held = judged.filter((outcome) => missed(outcome, quiet).length === 0).length;
  return {
    figure: held,
    baseline: judged.length,
    unit: 'attacks',
    targets: [{ of: 'ratio', bound: 'at least', value: 1 }],
    notes: ['waits in ms: p50/p99/longest', lineOf(quiet), ...notes, lineOf(after)],
  };
}

/** Creates a row of these attacks. */
export const attackRow = (
  about: Pick<Row, 'name' | 'title'>,
  attacks: readonly Attack[],
  together: readonly string[],
): Row => ({
  ...about,
  against: 'all that were played',
  measure: (stage) => measureAttacks(stage, attacks, together),
});

import type { FetchHead, FetchOrder, PortAnswer, PortOrders } from '@phalanx/automation';
import type { ReplayFetches, ReplayLimits, SandboxCallResult } from '@phalanx/protocol';

import { digestOf } from '../../child/digest-of.ts';
import { explainedError } from '../../child/explained-error.ts';
import { isOutOfMemory } from '../../run/run-end.ts';
import { hourMs } from '@phalanx/timing/durations';
import type { ReplayContext, ReplayIsolate } from './replay-isolate.ts';

/** Result as `SandboxCallResult`, or JSON of one. */
export type CallAnswer = SandboxCallResult | { json: string };

/** Player of one run of the code: decides what the code sees, and collects the results. */
export interface Player {
  /** Whether the player is done. Later actions of the run are ignored. */
  readonly isDone: boolean;
  capturedAt(): number;
  /** Stage of the run; null when the code determines it itself. */
  stage(): string | null;
  answer(name: string, params: unknown, clock: VirtualClock): CallAnswer;
  uncaught(error: PortOrders['uncaught']): void;
  /** Called when the code has nothing left to do. */
  ended(): void;
  exceeded(message: string): void;
  readonly missed: ((by: string, wanted: string) => void) | undefined;
}

export interface PlayLimits extends ReplayLimits {
  /** Limit of the run's virtual clock, in milliseconds. Default: one hour. */
  virtualMs?: number;
}

const maxCalls = 2000;
/** Maximum length of an order in characters of JSON, as in a run. */
const maxOrderLength = 500_000;
const maxRandomBytes = 65_536;

interface Playing {
  player: Player;
  clock: VirtualClock;
  results: { entry: 'result' | 'fetched'; id: number; json: string; body: string }[];
  fetches: ReplayFetches;
  calls: number;
  isSettled: boolean;
  seed: number;
}

type Orders = {
  [Name in keyof PortOrders]?: (order: PortOrders[Name], body: string | undefined) => PortAnswer | void;
};

/** Runs the loaded code from its first line, as fast as possible, until the player is done. */
export function playRun(
  isolate: ReplayIsolate,
  player: Player,
  { argumentsJson, fetches, limits }: { argumentsJson: string; fetches: ReplayFetches; limits: PlayLimits },
): void {
  const playing: Playing = {
    player,
    clock: new VirtualClock(),
    results: [],
    fetches,
    calls: 0,
    isSettled: false,
    seed: 1,
  };
  const orders = ordersOf(playing);
  const context = isolate.open({
    ask: (name, json, body) => answered(() => take(playing, orders, { name, json, body })),
    hold: (name) => {
      if (name === 'stop') player.ended();
      return player.isDone;
    },
    capturedAt: () => player.capturedAt(),
    stage: () => player.stage(),
    missed: player.missed,
  });
  const endsAt = performance.now() + limits.totalMs;
  try {
    guarded(player, () => context.begin(argumentsJson, limits.entryMs));
    while (!player.isDone) {
      if (performance.now() > endsAt) player.exceeded(`took more than ${limits.totalMs} ms`);
      else guarded(player, () => step(playing, context, limits));
    }
  } finally {
    context.close();
  }
}

function step(playing: Playing, context: ReplayContext, { entryMs, virtualMs = hourMs }: PlayLimits): void {
  const { player, clock, results } = playing;
  const result = results.shift();
  if (result !== undefined) return context.enter(result.entry, result, entryMs);
  const timer = playing.isSettled && !clock.isKept ? undefined : clock.next();
  if (timer === undefined) return player.ended();
  if (clock.now > virtualMs) return player.exceeded('waited for too many hours of the clock');
  return context.enter('timer', { id: timer, json: '', body: '' }, entryMs);
}

/** Runs an entry into the isolate. It fails on a limit, or on an unhandled rejection. */
function guarded(player: Player, enter: () => void): void {
  try {
    enter();
  } catch (error) {
    if (player.isDone) return;
    const message = error instanceof Error ? error.message : String(error);
    if (/timed out/.test(message)) player.exceeded('computed for too long without a wait');
    else if (message.startsWith('Isolate ') || isOutOfMemory(message))
      player.exceeded('used too much memory');
    else player.uncaught(explainedError({ message: nameOf(error) + message, text: textOf(error), at: '' }));
  }
}

const boundary = '\n    at (<isolated-vm boundary>)';

const nameOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ` : '');

const textOf = (error: unknown): string =>
  `Uncaught ${error instanceof Error ? (String(error.stack).split(boundary)[0] ?? '') : String(error)}`;

/** Replaces errors of this process, because their stacks name files of this machine and must not reach the isolate. */
function answered(ask: () => PortAnswer): PortAnswer {
  try {
    return ask();
  } catch {
    return 'The request was not understood.';
  }
}

function take(
  { player }: Playing,
  orders: Orders,
  { name, json, body }: { name: string; json: string; body: string | undefined },
): PortAnswer {
  if (player.isDone || !Object.hasOwn(orders, name)) return 'The run has ended.';
  if (json.length > maxOrderLength) return `Too large: at most ${maxOrderLength} characters of JSON.`;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its replay
  const order = orders[name as keyof Orders] as (order: unknown, body?: string) => PortAnswer;
  return order(JSON.parse(json), body);
}

function ordersOf(playing: Playing): Orders {
  const { player, clock, results } = playing;
  return {
    timer: (order) => clock.start(order),
    clearTimer: ({ id }) => clock.clear(id),
    call: (order) => call(playing, order),
    cancelCall: () => {},
    fetch: (order) =>
      void results.push({ entry: 'fetched', id: order.id, ...answerFetch(playing.fetches, order) }),
    abortFetch: () => {},
    random: (order) => randomByteString(playing, order),
    digest: digestOf,
    stepBegan: () => 'A replay has no trace.',
    stepEnded: () => {},
    result: () => {},
    now: () => clock.now,
    mainSettled: () => void (playing.isSettled = true),
    uncaught: (error) => player.uncaught(explainedError(error)),
  };
}

function call(playing: Playing, { id, name, params }: PortOrders['call']): void {
  const { player, clock, results } = playing;
  playing.calls += 1;
  if (playing.calls > maxCalls) return player.exceeded(`made more than ${maxCalls} calls of agent`);
  const answer = player.answer(name, params, clock);
  const json = 'json' in answer ? answer.json : JSON.stringify(answer);
  results.push({ entry: 'result', id, json, body: '' });
}

/** Returns pseudorandom bytes, the same in each replay. */
function randomByteString(playing: Playing, { sizeBytes }: PortOrders['random']): string {
  let bytes = '';
  for (let count = Math.min(sizeBytes, maxRandomBytes); count > 0; count -= 1) {
    playing.seed = (Math.imul(playing.seed, 1_664_525) + 1_013_904_223) | 0;
    bytes += String.fromCharCode((playing.seed >>> 16) & 0xff);
  }
  return bytes;
}

/** Answer in the format of the isolate: JSON of the head or of the failure, and the body as a byte string. */
interface FetchAnswer {
  json: string;
  body: string;
}

/** Returns the project's first matching answer. Without one, the request fails as it does without a network. */
function answerFetch(fetches: ReplayFetches, { method, url }: FetchOrder): FetchAnswer {
  const found = fetches.find(
    (one) => (one.method ?? 'GET').toUpperCase() === method && patternOf(one.url).test(url),
  );
  if (found === undefined) {
    const message = `fetch failed: a replay has no network, and screens/fetch.json no answer to ${method} ${url}`;
    return { json: JSON.stringify({ ok: false, message }), body: '' };
  }
  const { status = 200, body = '' } = found;
  const isText = typeof body === 'string';
  const headers: FetchHead['headers'] = [['content-type', isText ? 'text/plain' : 'application/json']];
  const head: FetchHead = { url, status, statusText: '', headers, redirected: false };
  const bytes = Buffer.from(isText ? body : JSON.stringify(body)).toString('latin1');
  return { json: JSON.stringify({ ok: true, head }), body: bytes };
}

const patternOf = (url: string): RegExp => new RegExp(`^${url.split('*').map(escaped).join('.*')}$`, 's');

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** Maximum number of timers: more of them indicate a leak, as in a run. */
const maxTimers = 10_000;

interface Timer {
  id: number;
  dueAt: number;
  keepsAlive: boolean;
}

/** Virtual clock. It only advances when nothing else is left to do, and then jumps to the next timer. */
export class VirtualClock {
  /** Virtual milliseconds since the start of the run. */
  now = 0;
  /** Timers in the order of their starts, which is the tiebreaker for equal times. */
  readonly #timers = new Map<number, Timer>();

  /** Whether a pending timer keeps the run alive. */
  get isKept(): boolean {
    return [...this.#timers.values()].some(({ keepsAlive }) => keepsAlive);
  }

  start({ id, delayMs, keepsAlive }: PortOrders['timer']): string | undefined {
    if (this.#timers.size >= maxTimers) return `Too many timers: at most ${maxTimers} may wait at a time.`;
    this.#timers.set(id, { id, dueAt: this.now + delayMs, keepsAlive });
    return undefined;
  }

  clear(id: number): void {
    this.#timers.delete(id);
  }

  /** Advances the clock to the first due timer, removes the timer, and returns its ID. */
  next(): number | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers.values()) if (!first || timer.dueAt < first.dueAt) first = timer;
    if (first === undefined) return undefined;
    this.#timers.delete(first.id);
    this.now = Math.max(this.now, first.dueAt);
    return first.id;
  }
}

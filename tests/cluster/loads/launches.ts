import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { launchRoutes, logRoutes, logWindowMs, runRoutes } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { RepeatedWork } from '../../support/repeated-work.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { BalancedApi, Reply } from '../balanced-api.ts';
import type { SimulatedHost, SimulatedRun } from '../simulated-host.ts';
import type { Load } from './load.ts';

const Outcome = Compile(
  Type.Object({
    devices: Type.Array(
      Type.Object({ outcome: Type.String(), run_id: Type.Union([Type.String(), Type.Null()]) }),
    ),
  }),
);
const Logs = Compile(
  Type.Object({ logs: Type.Array(Type.Object({ id: Type.String(), message: Type.String() })) }),
);
const RunLog = Compile(
  Type.Object({
    logs: Type.Array(Type.Object({ message: Type.String() })),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  }),
);

interface Options {
  api: BalancedApi;
  hosts: readonly SimulatedHost[];
  deviceIds: readonly string[];
  random: SeededRandom;
}

interface Launched {
  readonly launchId: string;
  readonly deviceId: string;
  readonly runId: string;
  /** Time until which all of its lines are in `automationLogs`, by `performance.now()`. */
  readonly wholeUntil: number;
}

const callerCount = 4;
/** Time limit in ms for the start: a host that loses its connection gets the launch on its next one. */
const beginMs = 30_000;
/** Margin in ms for reading. */
const marginMs = 60_000;

const sameAnswer = (reply: Reply): string =>
  `${reply.status} ${reply.text.replace(/"request_id":"[^"]*"/, '')}`;

/** Four callers that launch and stop, and repeat each request. */
export class Launches implements Load {
  readonly violations: string[] = [];
  readonly started: Launched[] = [];
  /** Runs that a reply reported as not started, by run ID. */
  readonly #refused = new Map<string, string>();
  readonly counts = { launches: 0, refused: 0, repeats: 0, stops: 0, lines: 0 };
  readonly #options: Options;
  readonly #callers = new RepeatedWork();

  constructor(options: Options) {
    this.#options = options;
    this.#callers.begin(callerCount, () => this.#launchSoon());
  }

  end(): Promise<void> {
    return this.#callers.end();
  }

  /** Reads the logs of all started runs. */
  async check(): Promise<void> {
    for (const [runId, text] of this.#refused)
      if (this.runOf(runId) !== undefined)
        this.violations.push(`run ${runId} has begun, though its launch was answered with ${text}`);
    for (const launched of this.started) await this.#requireLogs(launched);
  }

  runOf(runId: string): SimulatedRun | undefined {
    for (const host of this.#options.hosts) {
      const run = host.begun.get(runId);
      if (run !== undefined) return run;
    }
    return undefined;
  }

  async #launchSoon(): Promise<void> {
    await pause(this.#options.random.below(200));
    await this.#launch();
  }

  async #launch(): Promise<void> {
    const { api, deviceIds, random } = this.#options;
    const deviceId = random.pick(deviceIds);
    const launchId = randomUUID();
    const body = { device_id: deviceId, launch_id: launchId, command: 'start', code: 'console.log(1)' };
    const launch = (): Promise<Reply> => api.call('POST', launchRoutes.launchDirect.path, body);
    this.counts.launches += 1;
    const [first, second] = await Promise.all([launch(), launch()]);
    const third = await launch();
    this.counts.repeats += 2;
    this.#compare(launchId, [first, second, third]);
    if (first.status === 500) this.violations.push(`launch ${launchId}: ${first.text}`);
    if (first.status !== 200) return this.#noteRefused([first, second, third]);
    const runId = await this.#requireBegun(launchId, first);
    if (runId === undefined) return;
    const launched = { launchId, deviceId, runId, wholeUntil: performance.now() + logWindowMs - marginMs };
    this.started.push(launched);
    if (random.below(3) === 0) await this.#stop(launched);
  }

  /**
   * Compares the replies to the same launch. An unavailable device means that nothing was launched, so the next reply
   * may be a success.
   */
  #compare(launchId: string, replies: readonly Reply[]): void {
    const final = replies.filter(({ text }) => !text.includes('"devices_unavailable"'));
    const answers = new Set(final.map(sameAnswer));
    if (answers.size > 1) this.violations.push(`launch ${launchId} has answers ${[...answers].join(' | ')}`);
  }

  #noteRefused(replies: readonly Reply[]): void {
    for (const { body, text } of replies)
      for (const { outcome, run_id: runId } of Outcome.Check(body) ? body.devices : [])
        if (outcome !== 'started' && runId !== null) this.#refused.set(runId, text);
    this.counts.refused = this.#refused.size;
  }

  /** Requires that the host has begun the run: it gets the message at the time of the reply. */
  async #requireBegun(launchId: string, { body }: Reply): Promise<string | undefined> {
    const [device] = Outcome.Check(body) ? body.devices : [];
    const runId = device?.run_id ?? undefined;
    const until = performance.now() + beginMs;
    if (runId !== undefined)
      for (; performance.now() < until; await pause(50)) if (this.runOf(runId) !== undefined) return runId;
    this.violations.push(`launch ${launchId} was answered with 200, and no host has begun it`);
    return undefined;
  }

  async #stop({ deviceId, launchId, runId }: Launched): Promise<void> {
    this.counts.stops += 1;
    const body = { device_id: deviceId, launch_id: launchId, command: 'stop', code: '' };
    const { status, text } = await this.#options.api.call('POST', launchRoutes.launchDirect.path, body);
    const run = this.runOf(runId);
    if (status === 200 && run?.report.status === 'running')
      this.violations.push(`the stop of run ${runId} was answered with ${text}, and it goes on`);
    if (status !== 200 && !/devices_unavailable|stop_not_confirmed/.test(text))
      this.violations.push(`the stop of run ${runId} was answered with ${text}`);
  }

  async #requireLogs(launched: Launched): Promise<void> {
    const { runId, wholeUntil } = launched;
    this.#requireLines(runId, 'its log', await this.#readRunLog(runId));
    // `automationLogs` drops older lines.
    if (performance.now() < wholeUntil)
      this.#requireLines(runId, 'automationLogs', await this.#poll(launched));
  }

  /** Requires each line exactly once, in order. */
  #requireLines(runId: string, place: string, lines: readonly string[]): void {
    this.counts.lines += lines.length;
    const wanted = this.runOf(runId)?.logged ?? 0;
    const isWhole = lines.length === wanted && lines.every((line, at) => line === String(at + 1));
    if (!isWhole)
      this.violations.push(`run ${runId} logged ${wanted} lines, and ${place} has: ${lines.join(' ')}`);
  }

  async #readRunLog(runId: string): Promise<string[]> {
    const lines: string[] = [];
    for (let from: string | null = ''; from !== null;) {
      const query: string = from && `?from=${from}`;
      const { body } = await this.#options.api.call(
        'GET',
        `${runRoutes.logs.path.replace(':id', runId)}${query}`,
      );
      if (!RunLog.Check(body)) return lines;
      lines.push(...body.logs.map(({ message }) => message));
      from = body.next_cursor;
    }
    return lines;
  }

  async #poll({ launchId, deviceId }: Launched): Promise<string[]> {
    const lines: string[] = [];
    for (let from = '', before = -1; lines.length > before;) {
      before = lines.length;
      const asked = { device_id: deviceId, automation_ids: [launchId], ...(from !== '' && { from }) };
      const { body } = await this.#options.api.call('POST', logRoutes.read.path, asked);
      const logs = Logs.Check(body) ? body.logs : [];
      lines.push(...logs.map(({ message }) => message));
      from = logs.at(-1)?.id ?? from;
    }
    return lines;
  }
}

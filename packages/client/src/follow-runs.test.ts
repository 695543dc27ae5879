import type { LogEntry, RunDetail } from '@phalanx/protocol';
import { expect, test } from 'vitest';

import { followRuns } from './follow-runs.ts';
import type { RunReader } from './followed-run.ts';
import type { RunUpdate } from './run-update.ts';
import { ServiceError, ServiceUnreachable } from './service-errors.ts';

const runId = 'run';
const entry = (number: number): LogEntry => ({
  id: `id-${String(number).padStart(4, '0')}`,
  run_id: runId,
  message: `line ${number}`,
  messageLevel: 'log',
  lineNumber: 1,
  timestamp: number,
});

/** Service with one run, whose log and state the tests change. */
class ScriptedService implements RunReader {
  readonly stored: LogEntry[] = [];
  isEnded = false;
  isLogComplete = true;
  /** Errors that the next calls throw. */
  readonly failures: Error[] = [];
  refusal: Error | undefined;
  pages = 0;
  streams = 0;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  store(...numbers: readonly number[]): void {
    this.stored.push(...numbers.map(entry));
  }

  send(type: string, data: object): void {
    this.#stream?.enqueue(new TextEncoder().encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
  }

  /** Stores entries, and sends them to the followers. */
  log(...numbers: readonly number[]): void {
    this.store(...numbers);
    this.send('log', { device_id: 'phone', logs: numbers.map(entry) });
  }

  end(): void {
    this.isEnded = true;
    this.send('run', { run: this.#run });
  }

  cut(): void {
    this.#stream?.error(new TypeError('terminated'));
  }

  readonly events: RunReader['events'] = async () => {
    if (this.refusal !== undefined) throw this.refusal;
    this.streams += 1;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#stream = controller) });
    return new Response(body);
  };

  readonly getRun: RunReader['getRun'] = async () => {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    return { success: true, run: this.#run };
  };

  readonly runLogs: RunReader['runLogs'] = async ({ query: { from = '' } = {} }) => {
    this.pages += 1;
    const logs = this.stored.filter(({ id }) => id > from);
    return { success: true, logs, next_cursor: null, truncated: false };
  };

  get #run(): RunDetail {
    const state = { ended_at: this.isEnded ? 1 : null, log_complete: this.isEnded && this.isLogComplete };
    // The follower reads no other properties.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { run_id: runId, device_id: 'phone', ...state } as RunDetail;
  }
}

const follow = (service: ScriptedService): AsyncGenerator<RunUpdate, void, undefined> =>
  followRuns(service, { runIds: [runId] });

const textOf = (update: RunUpdate | void): string =>
  update?.type === 'log'
    ? update.logs.map(({ timestamp }) => timestamp).join(' ')
    : (update?.type ?? 'nothing more');

async function nextOf(updates: AsyncGenerator<RunUpdate, void, undefined>): Promise<string> {
  return textOf((await updates.next()).value);
}

async function restOf(updates: AsyncGenerator<RunUpdate, void, undefined>): Promise<string[]> {
  const rest: string[] = [];
  for await (const update of updates) rest.push(textOf(update));
  return rest;
}

test('a log is handed out as it comes, and the end follows it at once when the log is complete', async () => {
  const service = new ScriptedService();
  service.store(1, 2);
  const updates = follow(service);
  expect([await nextOf(updates), await nextOf(updates)]).toEqual(['1 2', 'live']);
  service.log(3);
  service.log(4, 5);
  expect([await nextOf(updates), await nextOf(updates)]).toEqual(['3', '4 5']);
  const before = service.pages;
  service.end();
  expect(await restOf(updates)).toEqual(['end']);
  // The end is read at once, without a wait.
  expect(service.pages).toBe(before + 1);
});

test('a run that has ended needs no stream', async () => {
  const service = new ScriptedService();
  service.store(1);
  service.isEnded = true;
  expect(await restOf(follow(service))).toEqual(['1', 'end', 'live']);
  expect(service.streams).toBe(0);
});

test('what a broken connection did not bring is read, once, and no absence is reported', async () => {
  const service = new ScriptedService();
  const updates = follow(service);
  expect(await nextOf(updates)).toBe('live');
  service.log(1);
  expect(await nextOf(updates)).toBe('1');
  service.cut();
  service.store(2, 3);
  expect([await nextOf(updates), await nextOf(updates)]).toEqual(['2 3', 'live']);
  service.log(4);
  service.end();
  expect(await restOf(updates)).toEqual(['4', 'end']);
  expect(service.streams).toBe(2);
});

test('a service that stays away is reported, and followed again when it is back', async () => {
  const service = new ScriptedService();
  service.failures.push(new ServiceUnreachable('away'), new ServiceUnreachable('still away'));
  service.store(1);
  service.isEnded = true;
  expect(await restOf(follow(service))).toEqual(['away', 'away', '1', 'end', 'live']);
});

test('lines of a run that come after its end are handed out before it', async () => {
  const service = new ScriptedService();
  service.isLogComplete = false;
  const updates = follow(service);
  expect(await nextOf(updates)).toBe('live');
  service.end();
  service.log(1);
  expect(await nextOf(updates)).toBe('1');
  service.log(2);
  service.isLogComplete = true;
  expect(await restOf(updates)).toEqual(['2', 'end']);
});

test.each(['token_limited', 'too_many_streams'] as const)(
  'a caller whose stream is refused with %s is served by pages',
  async (code) => {
    const service = new ScriptedService();
    const status = code === 'too_many_streams' ? 429 : 403;
    // The codes of refusals are not part of this test.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const body = { code, message: 'refused' } as ConstructorParameters<typeof ServiceError>[0];
    service.refusal = new ServiceError(body, { status, headers: new Headers() });
    service.store(1);
    const updates = follow(service);
    expect([await nextOf(updates), await nextOf(updates)]).toEqual(['1', 'live']);
    service.store(2);
    expect(await nextOf(updates)).toBe('2');
    service.isEnded = true;
    expect(await restOf(updates)).toEqual(['end']);
  },
);

test('other refusals end the following', async () => {
  const service = new ScriptedService();
  const body = { code: 'run_not_found', message: 'There is no such run.' } as const;
  service.failures.push(new ServiceError(body, { status: 404, headers: new Headers() }));
  await expect(restOf(follow(service))).rejects.toThrow('There is no such run.');
});

test('updates of runs that were read beside one that failed are given once', async () => {
  const service = new ScriptedService();
  service.store(1);
  service.isEnded = true;
  service.failures.push(new ServiceUnreachable('away'));
  expect(await restOf(followRuns(service, { runIds: ['other', runId] }))).toEqual([
    '1',
    'end',
    'away',
    'end',
    'live',
  ]);
});

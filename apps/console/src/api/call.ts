import { ServiceError, ServiceUnreachable, Transport } from '@phalanx/client/transport';
import type { RunReader } from '@phalanx/client/followed-run';
import type { AnswerOf, InputOf } from '@phalanx/client/operations';
import type { AnyContract, RouteContract } from '@phalanx/protocol';

import { createStore } from './store.ts';

/**
 * Sends each call once: a person sees that nothing came and tries again, and the queries of a page retry by
 * themselves.
 */
const transport = new Transport({ url: '', retryForMs: 0 });

let line = new AbortController();

/** Gives up what waits for an answer, which would wait for minutes on a line that carries nothing. */
export function hangUp(): void {
  line.abort(new ServiceUnreachable('The service does not answer.'));
  line = new AbortController();
}

interface Extra {
  readonly signal?: AbortSignal | undefined;
}

/** An empty search is none. */
const withoutEmpty = (query: object): object =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

const onThisLine = (signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined ? line.signal : AbortSignal.any([signal, line.signal]);

/** Asks and gives the headers too. Throws what the client throws. */
export async function callWhole<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  { signal }: Extra = {},
): Promise<{ body: Reply<Name>; headers: Headers }> {
  const [method = 'GET', path = '/'] = name.split(' ');
  const query = withoutEmpty(input.query ?? {});
  try {
    const answer = await transport.whole(
      { method, path },
      { ...input, query },
      { signal: onThisLine(signal) },
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes its replies by the same contract
    return answer as { body: Reply<Name>; headers: Headers };
  } catch (error) {
    const isSignedOut = error instanceof ServiceError && error.status === 401;
    if (isSignedOut && !name.endsWith(' /api/v2/session')) session.end(error.message);
    throw error;
  }
}

/** Operations for the client's followers of runs. */
export const runReader: RunReader = {
  getRun: (input, extra) => call('GET /api/v2/runs/:id', input, extra),
  runLogs: (input, extra) => call('GET /api/v2/runs/:id/logs', input, extra),
  events: (input, { signal } = {}) =>
    transport.send({ method: 'GET', path: '/api/v2/events' }, input, { signal: onThisLine(signal) }),
};

/** Asks an endpoint. Throws what the client throws. */
export async function call<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  extra: Extra = {},
): Promise<Reply<Name>> {
  return (await callWhole(name, input, extra)).body;
}

/**
 * Name of an endpoint, such as `GET /api/v2/devices/:id`. Types alone: the schemas themselves stay at the
 * server, which validates.
 */
type EndpointName = AnyContract extends infer One extends RouteContract
  ? One extends RouteContract
    ? `${One['method']} ${One['path']}`
    : never
  : never;

type ContractOf<Name extends EndpointName> = Name extends `${infer Method} ${infer Path}`
  ? Extract<AnyContract, { method: Method; path: Path }>
  : never;

/** Input of a call of an endpoint. */
type Input<Name extends EndpointName> = InputOf<ContractOf<Name>>;

export type Reply<Name extends EndpointName> = AnswerOf<ContractOf<Name>>;

type SessionState = 'unknown' | 'signed in' | 'signed out';

const sessionState = createStore<SessionState>('unknown');
const endReason = createStore('');
const storageKey = 'phalanx.signed-in';

/** Whether this browser is signed in, as the last answers of the service say. */
export const session = {
  store: sessionState,
  /** Why it ended, as the service says. */
  reason: endReason,
  /** Whether somebody was signed in here and did not sign out: the sign-in page tells them why they see it. */
  wasSignedIn: (): boolean => localStorage.getItem(storageKey) !== null,
  begin: (): void => {
    localStorage.setItem(storageKey, 'yes');
    sessionState.set('signed in');
  },
  end: (reason: string): void => {
    // Requests that were under way are refused as well, for other reasons.
    if (sessionState.get() !== 'signed out') endReason.set(reason);
    sessionState.set('signed out');
  },
  /** Ends a session because somebody signs out. */
  leave: (): void => {
    localStorage.removeItem(storageKey);
    sessionState.set('signed out');
  },
};

/**
 * The service writes whole addresses of captures, under the name that it listens on; this browser may have come by
 * another one, and its policy allows only that.
 */
export function localAddress(address: string): string {
  const { pathname, search } = new URL(address, window.location.href);
  return `${pathname}${search}`;
}

/** All rows of a list that comes in pages. */
export async function readAll<Row>(
  readPage: (cursor: string | undefined) => Promise<{ rows: readonly Row[]; next: string | null }>,
): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | undefined; ;) {
    const { rows, next } = await readPage(cursor);
    all.push(...rows);
    if (next === null) return all;
    cursor = next;
  }
}

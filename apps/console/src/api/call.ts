import { ApiClient } from '@phalanx/client/api-client';
import type { CallOptions, Endpoint, Inputs } from '@phalanx/client/call';
import type { AnswerOf, InputOf } from '@phalanx/client/contract-types';
import type { RunReader } from '@phalanx/client/followed-run';
import { ServiceError, ServiceUnreachable } from '@phalanx/client/service-errors';
import type { AnyContract, RouteContract } from '@phalanx/protocol';

import { createStore } from './store.ts';

/**
 * Sends each call once, without retries: users see the failure and try again, and the queries of a page retry by
 * themselves.
 */
const client = new ApiClient({ url: '', retryForMs: 0 });

let line = new AbortController();

/** Aborts all calls in flight, which would wait minutes for a reply on a dead connection. */
export function hangUp(): void {
  line.abort(new ServiceUnreachable('The service does not answer.'));
  line = new AbortController();
}

/** Calls an endpoint. Throws the errors of the client. */
export async function call<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
): Promise<Reply<Name>> {
  return (await callWithHeaders(name, input, options)).body;
}

/** Calls an endpoint and returns its reply with the headers. */
export async function callWithHeaders<Name extends EndpointName>(
  name: Name,
  input: Input<Name>,
  options?: CallOptions,
): Promise<{ body: Reply<Name>; headers: Headers }> {
  try {
    const answer = await client.json(endpointOf(name), withoutEmpty(input), onThisLine(options));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes its replies by the same contract
    return answer as { body: Reply<Name>; headers: Headers };
  } catch (error) {
    const isSignedOut = error instanceof ServiceError && error.status === 401;
    if (isSignedOut && !name.endsWith(' /api/v2/session')) session.end(error.message);
    throw error;
  }
}

function endpointOf(name: EndpointName): Endpoint {
  const [method = 'GET', path = '/'] = name.split(' ');
  return { method, path };
}

/** Drops empty strings from the query: an empty search means no search. */
const withoutEmpty = (input: Inputs): Inputs => ({
  ...input,
  query: Object.fromEntries(Object.entries(input.query ?? {}).filter(([, value]) => value !== '')),
});

const onThisLine = ({ signal }: CallOptions = {}): CallOptions => ({
  signal: signal === undefined ? line.signal : AbortSignal.any([signal, line.signal]),
});

/** Operations that the client needs to follow runs. */
export const runReader: RunReader = {
  getRun: (input, options) => call('GET /api/v2/runs/:id', input, options),
  runLogs: (input, options) => call('GET /api/v2/runs/:id/logs', input, options),
  events: (input, options) => client.send(endpointOf('GET /api/v2/events'), input, onThisLine(options)),
};

/**
 * Name of an endpoint, such as `GET /api/v2/devices/:id`. Imports types only: the schemas stay on the server, which
 * validates.
 */
type EndpointName = AnyContract extends infer One extends RouteContract
  ? One extends RouteContract
    ? `${One['method']} ${One['path']}`
    : never
  : never;

type ContractOf<Name extends EndpointName> = Name extends `${infer Method} ${infer Path}`
  ? Extract<AnyContract, { method: Method; path: Path }>
  : never;

/** Input of an endpoint. */
type Input<Name extends EndpointName> = InputOf<ContractOf<Name>>;

export type Reply<Name extends EndpointName> = AnswerOf<ContractOf<Name>>;

type SessionState = 'unknown' | 'signed in' | 'signed out';

const sessionState = createStore<SessionState>('unknown');
const endReason = createStore('');
const storageKey = 'phalanx.signed-in';

/** Session of this browser: whether it is signed in, according to the latest replies of the service. */
export const session = {
  store: sessionState,
  /** Reason why the session ended, as reported by the service. */
  reason: endReason,
  /** Whether a user signed in here and did not sign out; the sign-in page then explains why the session ended. */
  wasSignedIn: (): boolean => localStorage.getItem(storageKey) !== null,
  begin: (): void => {
    localStorage.setItem(storageKey, 'yes');
    sessionState.set('signed in');
  },
  end: (reason: string): void => {
    // Requests in flight fail too, for other reasons; the first reason counts.
    if (sessionState.get() !== 'signed out') endReason.set(reason);
    sessionState.set('signed out');
  },
  /** Ends the session at the user's request. */
  leave: (): void => {
    localStorage.removeItem(storageKey);
    sessionState.set('signed out');
  },
};

/**
 * Returns the path and query of a URL. The service returns absolute URLs with the host name that it listens on. The
 * browser may have used another name, and its content security policy allows only that one.
 */
export function localAddress(address: string): string {
  const { pathname, search } = new URL(address, window.location.href);
  return `${pathname}${search}`;
}

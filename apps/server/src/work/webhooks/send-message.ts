import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type AddressRule, guardedLookup, refuseLiteral, type Resolve } from '@phalanx/egress';

export interface Target {
  readonly url: URL;
  readonly rule: AddressRule;
  readonly resolve: Resolve;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Maximum size of a response body, which is discarded. A larger one ends the connection. */
const maxBodyBytes = 16 * 1024;
const maxBodyMs = 1000;

/** Sends one POST, follows no redirects, and resolves with the head of the response. Rejects when there is none. */
export function sendMessage(
  { url, rule, resolve: findAddresses, signal }: Target,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  refuseLiteral(url, rule);
  const options = { method: 'POST', headers, signal };
  const settings = { keepAlive: false, lookup: guardedLookup(rule, findAddresses) };
  const outgoing =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, agent: new HttpsAgent(settings) })
      : httpRequest(url, { ...options, agent: new HttpAgent(settings) });
  outgoing.on('response', (response) => {
    resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
    drain(response);
  });
  outgoing.on('error', reject);
  // A protocol switch is not an answer to a POST, so the connection is not used any more.
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('the receiver switched protocols'));
  });
  outgoing.end(body);
  return promise;
}

function drain(response: IncomingMessage): void {
  let sizeBytes = 0;
  const timer = setTimeout(() => response.destroy(), maxBodyMs).unref();
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(timer));
  response.on('data', (piece: Buffer) => {
    sizeBytes += piece.length;
    if (sizeBytes > maxBodyBytes) response.destroy();
  });
}

/**
 * Explains a failure to the webhook's owner. Node reports several tried addresses as an error without a message of its
 * own.
 */
export function explainFailure(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = cause instanceof Error ? withoutAddress(cause) : String(cause);
  return text.slice(0, 300);
}

/** Removes the address that Node reports, because it may belong to a name within the operator's network. */
const withoutAddress = (error: NodeJS.ErrnoException): string =>
  error.syscall === 'connect'
    ? `it could not be connected to (${error.code ?? 'no reason given'})`
    : error.message;

import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

import {
  type AddressRule,
  guardedLookup,
  refuseLiteral,
  isPublicAddress,
  readNetworks,
  type Resolve,
} from '@phalanx/egress';
import { SettingError, type SettingFormat } from '@phalanx/settings';

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

/** Of a response's body nothing is kept; a receiver that sends no more than this keeps its connection in order. */
const mostBodyBytes = 16 * 1024;
const longestBodyMs = 1000;

/** Makes one POST, follows nothing, and resolves with the head of the response. Rejects when there is none. */
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
  // What is no answer to a POST: the connection is not used any more.
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('the receiver switched protocols'));
  });
  outgoing.end(body);
  return promise;
}

function drain(response: IncomingMessage): void {
  let sizeBytes = 0;
  const timer = setTimeout(() => response.destroy(), longestBodyMs).unref();
  response.on('error', () => undefined);
  response.on('close', () => clearTimeout(timer));
  response.on('data', (piece: Buffer) => {
    sizeBytes += piece.length;
    if (sizeBytes > mostBodyBytes) response.destroy();
  });
}

/** What the owner of a webhook is told. Node tells of several tried addresses with an error that has no message of its own. */
export function explainFailure(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = cause instanceof Error ? withoutAddress(cause) : String(cause);
  return text.slice(0, 300);
}

/** Node names the address, which may be of a name within the operator's network. */
const withoutAddress = (error: NodeJS.ErrnoException): string =>
  error.syscall === 'connect'
    ? `it could not be connected to (${error.code ?? 'no reason given'})`
    : error.message;

/** The networks that webhooks may reach beside the public internet. */
export const networkList: SettingFormat<(address: string) => boolean> = {
  allowed: 'networks such as 10.1.0.0/16 and addresses, with commas; none',
  parse(text, name) {
    try {
      return readNetworks(text === 'none' ? [] : text.split(',').map((item) => item.trim()));
    } catch {
      throw new SettingError(
        `${name} is ${JSON.stringify(text.slice(0, 100))}: give networks such as 10.1.0.0/16 or addresses, with commas; or none.`,
      );
    }
  },
};

export const createTargetRule = (isInNetworks: (address: string) => boolean): AddressRule => ({
  isAllowed: (address) => isPublicAddress(address) || isInNetworks(address),
  refusal: (host) =>
    new Error(
      `${host} has no public address; the operator of the service can allow it with the setting PHALANX_WEBHOOK_NETWORKS`,
    ),
});

/** What a webhook signs with: as it is kept, and what its receivers check with. */
interface SigningKey {
  /** `whsec_…`, or `whsk_…` with the seed of Ed25519 and the public key. */
  readonly secret: string;
  /** `whpk_…`; null for a shared secret. */
  readonly publicKey: string | null;
}

interface Message {
  readonly id: string;
  /** Of the attempt, in seconds. */
  readonly timestamp: number;
  readonly body: string;
}

const secretBytes = 32;
const seedBytes = 32;
const prefixes = { shared: 'whsec_', private: 'whsk_', public: 'whpk_' } as const;

const toBase64Url = (bytes: Buffer): string => bytes.toString('base64url');

export function createSigningKey(signature: 'v1' | 'v1a'): SigningKey {
  if (signature === 'v1')
    return { secret: prefixes.shared + randomBytes(secretBytes).toString('base64'), publicKey: null };
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return {
    secret: prefixes.private + Buffer.concat([seed, point]).toString('base64'),
    publicKey: prefixes.public + point.toString('base64'),
  };
}

/** The value of `webhook-signature` (Standard Webhooks 1.0): a signature with each of the secrets. */
export function signatureOf(secrets: readonly string[], { id, timestamp, body }: Message): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return secrets.map((secret) => signWith(secret, content)).join(' ');
}

function signWith(secret: string, content: Buffer): string {
  const bytes = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
  if (secret.startsWith(prefixes.shared))
    return `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`;
  return `v1a,${sign(null, content, privateKeyOf(bytes)).toString('base64')}`;
}

const privateKeyOf = (bytes: Buffer): KeyObject =>
  createPrivateKey({
    format: 'jwk',
    key: {
      ...{ kty: 'OKP', crv: 'Ed25519' },
      d: toBase64Url(bytes.subarray(0, seedBytes)),
      x: toBase64Url(bytes.subarray(seedBytes)),
    },
  });

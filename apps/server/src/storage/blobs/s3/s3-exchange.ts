import http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { SettingError } from '@phalanx/settings';
import type { S3Config } from './s3-settings.ts';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { findFault, PartFailed, s3Failed } from '../../../kernel/faults/fault-monitor.ts';

export interface S3Body {
  readonly sizeBytes: number;
  /** SHA-256, in hex, by which the storage verifies the content. */
  readonly sha256: string;
  /** Opens the body, from its beginning each time. */
  open(): Readable;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Key in the bucket; undefined: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  /** Time limit for the beginning of the answer. */
  readonly limitMs: number;
}

/** Maximum concurrent requests; more wait. */
const maxSockets = 64;
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const maxErrorBytes = 64 * 1024;

/** Signs and sends requests, each once. */
export class S3Exchange {
  readonly #config: S3Config;
  readonly #client: typeof http | typeof https;
  readonly #agent: http.Agent;
  /** Signing keys of the day, derived from the secret key. */
  readonly #dayKeys = new Map<string, ArrayBuffer>();
  readonly #silentMs: number;

  /** `silentMs`: time without data in either direction after which a request is given up. */
  constructor(config: S3Config, silentMs: number) {
    this.#config = config;
    this.#client = config.endpoint.protocol === 'https:' ? https : http;
    this.#agent = new this.#client.Agent({ keepAlive: true, maxSockets });
    this.#silentMs = silentMs;
  }

  /**
   * Sends a request. The caller reads or destroys the body of the answer. Throws an `S3Refusal`, or an error of the
   * system.
   */
  async send(request: S3Request): Promise<http.IncomingMessage> {
    const { url, headers } = await this.#sign(request);
    const response = await this.#answerOf(request, url, headers);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    throw new S3Refusal(status, codeIn(await beginningOf(response)));
  }

  /** Ends the requests in progress. */
  close(): void {
    this.#agent.destroy();
  }

  async #sign({ method, key, query, headers, body }: S3Request): Promise<{ url: URL; headers: Headers }> {
    const { endpoint, bucket, region, accessKey, secretKey } = this.#config;
    const base = endpoint.href.replace(/\/+$/, '');
    const url = new URL(`${base}/${bucket}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      region,
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      cache: this.#dayKeys,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? emptySha256 },
    });
    const signed = await signer.sign();
    return { url: signed.url, headers: signed.headers };
  }

  #answerOf({ method, body, limitMs }: S3Request, url: URL, headers: Headers): Promise<http.IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const length = body === undefined ? {} : { 'content-length': body.sizeBytes };
    const request = this.#client.request(url, {
      method,
      agent: this.#agent,
      headers: { ...Object.fromEntries(headers), ...length },
    });
    const giveUp = (): void => void request.destroy(new S3Silence());
    const timer = setTimeout(giveUp, limitMs);
    request.setTimeout(this.#silentMs, giveUp);
    request.on('close', () => clearTimeout(timer));
    request.on('error', reject);
    request.on('response', (response) => {
      clearTimeout(timer);
      // Allow for a slow reader of the body.
      request.setTimeout(readerMs(this.#silentMs), giveUp);
      resolve(response);
    });
    if (body === undefined) request.end();
    else sendBody(body.open(), request);
    return promise;
  }
}

/** A body that can't be read ends the request with its error. */
function sendBody(body: Readable, request: http.ClientRequest): void {
  body.on('error', (error) => request.destroy(error));
  request.on('close', () => body.destroy());
  body.pipe(request);
}

const readerMs = (silentMs: number): number => 6 * silentMs;

/** Reads enough of an error answer to find its code. */
async function beginningOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const piece of response) {
      text += String(piece);
      if (text.length > maxErrorBytes) break;
    }
  } catch {
    // The status is enough without a body.
  }
  return text;
}

const codeIn = (xml: string): string => /<Code>(\w+)<\/Code>/.exec(xml)?.[1] ?? '';

/** Error answer of the storage to a request. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly status: number;
  /** S3 error code, for example `NoSuchKey`; empty when the answer has none. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`the S3 storage answered ${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

/** Error of a request without an answer in time. */
class S3Silence extends Error {
  override readonly name = 'S3Silence';

  constructor() {
    super('the S3 storage did not answer in time');
  }
}

/** Whether a retry a moment later may succeed. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Refusal)) return true;
  return error.status >= 500 || error.status === 429 || error.code === 'RequestTimeout';
}

/** Reasons by the codes of S3. */
const refusals: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket is not there',
  InvalidAccessKeyId: 'it does not know the access key',
  SignatureDoesNotMatch: 'the secret key is wrong',
  AccessDenied: 'the access key lacks a permission',
  RequestTimeTooSkewed: 'its clock and that of this machine differ too much',
  AuthorizationHeaderMalformed: 'the region is another one',
  PermanentRedirect: 'the bucket is in another region',
  QuotaExceeded: 'there is no room left in the bucket',
};

/** Reasons by the codes of the system. */
const silences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'the name of its machine is unknown',
  EAI_AGAIN: 'the name of its machine cannot be looked up now',
  EHOSTUNREACH: 'there is no way to its machine',
  ENETUNREACH: 'there is no way to its machine',
};

const cuts = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Returns the reason for callers; undefined for a bug of the service. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof S3Silence) return 'it does not answer in time';
  if (error instanceof S3Refusal)
    return refusals[error.code] ?? (error.status >= 500 ? 'it reports errors' : 'it refuses the request');
  const code = errorCodeOf(error);
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) return 'its certificate is not accepted';
  return silences[code] ?? (cuts.includes(code) ? 'the connection was cut' : undefined);
}

/** Turns an error into a fault of the storage. Faults of other parts and bugs are returned unchanged. */
export function asFault(error: unknown): unknown {
  const reason = findFault(error) === undefined ? reasonOf(error) : undefined;
  return reason === undefined ? error : s3Failed(reason, error);
}

/** Whether the storage has refused a request because of a wrong setting. */
export function isRefused(error: unknown): boolean {
  const cause = error instanceof PartFailed ? error.cause : error;
  return cause instanceof S3Refusal && !isPassing(cause);
}

/** Explains a fault of the storage in one line, as a `SettingError`; any other error is returned as it is. */
export function explainS3(error: unknown): unknown {
  const fault = findFault(error);
  if (error instanceof SettingError || fault?.part !== 's3') return error;
  return new SettingError(
    `The S3 storage cannot be used: ${fault.reason}. Check the settings that begin with PHALANX_S3.`,
    { cause: error },
  );
}

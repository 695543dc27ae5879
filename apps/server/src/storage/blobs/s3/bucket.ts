import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

import { SaxesParser } from 'saxes';
import { SettingError } from '@phalanx/settings';

import {
  type S3Body,
  S3Exchange,
  type S3Request,
  asFault,
  explainS3,
  isPassing,
  isRefused,
  S3Refusal,
} from './s3-exchange.ts';
import type { S3Config } from './s3-settings.ts';
import { backoffMs } from '@phalanx/timing/backoff';
import type { FaultMonitor } from '../../../kernel/faults/fault-monitor.ts';

export interface StoredObject {
  readonly sizeBytes: number;
  /** ETag of the content, with its quotation marks. */
  readonly etag: string;
}

/** Range of bytes; both ends are inclusive, from 0. */
interface Range {
  readonly first: number;
  readonly last: number;
}

interface Timeouts {
  /** Time without data in either direction after which a request is aborted. */
  readonly silentMs: number;
  /** Pause before the first retry; it doubles with each further one. */
  readonly retryMs: number;
}

type Asked = Omit<S3Request, 'limitMs'>;

const defaults: Timeouts = { silentMs: 10_000, retryMs: 100 };
const tries = 3;
const answerMs = 20_000;
/** Minimum rate for a body: the time limit grows with its size. */
const minBytesPerMs = 50;
const probeMs = 2000;
/** Maximum number of keys that S3 allows in a request. */
const keysPerStep = 1000;
const probeKey = 'probe';

export function bodyOf(content: string): S3Body {
  const bytes = Buffer.from(content);
  return {
    sizeBytes: bytes.byteLength,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    open: () => Readable.from([bytes], { objectMode: false }),
  };
}

/**
 * The bucket of an S3 storage. Retries requests that fail for a moment, and throws failures as faults of the part `s3`.
 */
export class Bucket {
  readonly #exchange: S3Exchange;
  readonly #retryMs: number;

  constructor(config: S3Config, { silentMs, retryMs }: Timeouts = defaults) {
    this.#exchange = new S3Exchange(config, silentMs);
    this.#retryMs = retryMs;
  }

  /** Stores an object whole or not at all; an earlier one is replaced at once. */
  async put(key: string, body: S3Body, contentType: string): Promise<void> {
    await this.#take({ method: 'PUT', key, body, headers: { 'content-type': contentType } });
  }

  async find(key: string): Promise<StoredObject | undefined> {
    const response = await this.#askFor({ method: 'HEAD', key });
    response?.resume();
    if (response === undefined) return undefined;
    const { 'content-length': length, etag = '' } = response.headers;
    return { sizeBytes: Number(length), etag };
  }

  /** Reads an object as it was found; undefined if it was deleted or replaced. */
  async read(
    key: string,
    { etag, range }: { etag?: string; range?: Range } = {},
  ): Promise<Readable | undefined> {
    const headers = {
      ...(etag !== undefined && { 'if-match': etag }),
      ...(range !== undefined && { range: `bytes=${range.first}-${range.last}` }),
    };
    return this.#askFor({ method: 'GET', key, headers });
  }

  /** Deletes objects. A key without an object is a success. */
  async delete(keys: readonly string[]): Promise<void> {
    for (let first = 0; first < keys.length; first += keysPerStep)
      await this.#deleteSome(keys.slice(first, first + keysPerStep));
  }

  /** Deletes all objects whose keys begin with `prefix`. */
  async deleteBelow(prefix: string): Promise<void> {
    for await (const { keys } of this.#pages({ prefix })) await this.#deleteSome(keys);
  }

  /** Lists the names below `prefix`, which ends with a slash; the names have no slash. */
  async listFolders(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { folders } of this.#pages({ prefix, delimiter: '/' }))
      names.push(...folders.map((folder) => folder.slice(prefix.length, -1)));
    return names;
  }

  /** Lists the keys that begin with `prefix`, a page at a time. */
  async *listKeys(prefix: string): AsyncGenerator<readonly string[]> {
    for await (const { keys } of this.#pages({ prefix })) yield keys;
  }

  /** Probes the storage for the fault monitor, without a retry. A thorough probe also writes. */
  async probe({ isThorough }: { isThorough: boolean }): Promise<void> {
    await this.#look(isThorough, probeMs);
  }

  /** Throws a `SettingError` when the storage answers and refuses, and a fault when it does not answer. */
  async open(): Promise<void> {
    await this.#look(true, answerMs).catch((error: unknown) => {
      throw isRefused(error) ? explainS3(error) : error;
    });
  }

  close(): void {
    this.#exchange.close();
  }

  async #look(isThorough: boolean, limitMs: number): Promise<void> {
    try {
      const query = { 'list-type': '2', 'max-keys': '1' };
      (await this.#exchange.send({ method: 'GET', query, limitMs })).resume();
      if (!isThorough) return;
      (await this.#exchange.send({ method: 'PUT', key: probeKey, body: bodyOf(''), limitMs })).resume();
    } catch (error) {
      throw asFault(error);
    }
  }

  async #deleteSome(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
    const xml = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
    const md5 = createHash('md5').update(xml).digest('base64');
    const headers = { 'content-md5': md5, 'content-type': 'application/xml' };
    const answer = await this.#take({ method: 'POST', query: { delete: '' }, headers, body: bodyOf(xml) });
    const [code] = answer === '' ? [] : parseFailedDeletions(answer);
    if (code !== undefined) throw asFault(new S3Refusal(200, code));
  }

  async *#pages(query: { prefix: string; delimiter?: string }): AsyncGenerator<Listing> {
    for (let token: string | undefined; ;) {
      const more = token === undefined ? {} : { 'continuation-token': token };
      const asked = { 'list-type': '2', 'max-keys': String(keysPerStep), ...query, ...more };
      const page = parseListing(await this.#take({ method: 'GET', query: asked }));
      yield page;
      if (page.next === undefined) return;
      token = page.next;
    }
  }

  /** Sends a request, and returns the text of the answer. */
  #take(request: Asked): Promise<string> {
    return this.#retrying(async () => textOf(await this.#once(request)));
  }

  /** Sends a request for an object; undefined if the object is missing or was replaced. */
  async #askFor(request: Asked): Promise<IncomingMessage | undefined> {
    try {
      return await this.#retrying(() => this.#once(request));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  #once(request: Asked): Promise<IncomingMessage> {
    const limitMs = answerMs + (request.body?.sizeBytes ?? 0) / minBytesPerMs;
    return this.#exchange.send({ ...request, limitMs });
  }

  async #retrying<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (isAbsence(error)) throw error;
        if (count === tries || !isPassing(error)) throw asFault(error);
        await pause(backoffMs({ firstMs: this.#retryMs, jitter: 0.5 }, count));
      }
    }
  }
}

/** The answer to a HEAD has no code. Its 404 is about the object, because a missing bucket is found at the start. */
const isAbsence = (error: unknown): boolean =>
  error instanceof S3Refusal &&
  (error.status === 412 || (error.status === 404 && error.code !== 'NoSuchBucket'));

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Page of the keys below a prefix. */
interface Listing {
  readonly keys: readonly string[];
  /** Key prefixes with a slash at the end. */
  readonly folders: readonly string[];
  /** Continuation token of the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** Reads an answer to `ListObjectsV2`. Throws when it is no XML. */
function parseListing(xml: string): Listing {
  const texts = textsByPath(xml);
  return {
    keys: texts.get('ListBucketResult/Contents/Key') ?? [],
    folders: texts.get('ListBucketResult/CommonPrefixes/Prefix') ?? [],
    next: texts.get('ListBucketResult/NextContinuationToken')?.[0],
  };
}

/** Reads the error codes in an answer to `DeleteObjects`, one for each object that is still there. */
const parseFailedDeletions = (xml: string): readonly string[] =>
  textsByPath(xml).get('DeleteResult/Error/Code') ?? [];

function textsByPath(xml: string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
  });
  parser.on('text', (part) => (text += part));
  parser.on('closetag', () => {
    const name = path.join('/');
    texts.set(name, [...(texts.get(name) ?? []), text]);
    path.pop();
    text = '';
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
  return texts;
}

/**
 * The bucket of the settings, which the monitor looks at from now on. Throws a `SettingError` when the storage refuses;
 * one that does not answer yet is a fault that may pass.
 */
export async function openBucket(
  config: S3Config | undefined,
  faults: FaultMonitor,
): Promise<Bucket | undefined> {
  if (config === undefined) return undefined;
  const bucket = new Bucket(config);
  faults.addProbe('s3', (extent) => bucket.probe(extent));
  try {
    await bucket.open();
  } catch (error) {
    if (!(error instanceof SettingError) && faults.note(error)) return bucket;
    bucket.close();
    throw error;
  }
  return bucket;
}

import type { RouteContract } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errorCodeOf, ApiError } from '../../kernel/errors/api-error.ts';
import { SerialQueues } from '../../kernel/serial-queues.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { HostCaller } from '../../http/requests/principal.ts';
import { addRawRoute, type RouteRequest } from '../../http/requests/route.ts';
import {
  type CaptureKey,
  type Captures,
  type ReceivedCapture,
  type BlobKind,
  contentTypes,
} from './captures.ts';
import { checkedBody, tooLarge } from './checked-body.ts';

/** State of a capture, run file or film part before its body is uploaded. */
export type Expectation = 'unknown' | 'expected' | 'stored';

export interface UploadNotes<Key extends CaptureKey> {
  /** Returns whether the body is expected from the host that has the caller's token. */
  expectationOf: (caller: HostCaller, key: Key) => Promise<Expectation>;
  /** Records that the body is stored. Returns false when the body is no longer expected. */
  noteStored: (key: Key, sizeBytes: number) => Promise<boolean>;
  /** Creates the error for a host whose body is not expected. */
  notExpected: (key: Key) => ApiError;
}

interface Options<Key extends CaptureKey> extends UploadNotes<Key> {
  captures: Captures;
  limits: Limits;
  figures: RecordFigures;
}

const nameOf = ({ recordId, screenId, kind }: CaptureKey): string => `${recordId} ${screenId} ${kind}`;

/** Receives the uploads of hosts: captures that they announced, and files and films of their runs. */
export class Uploads<Key extends CaptureKey> {
  readonly #options: Options<Key>;
  /** Serializes the steps that keep a body, per body. */
  readonly #steps = new SerialQueues();

  constructor(options: Options<Key>) {
    this.#options = options;
  }

  /** Receives a body. The body is read only when it is expected; a stored one is not replaced. */
  async take(caller: HostCaller, key: Key, body: AsyncIterable<Uint8Array>): Promise<void> {
    const expectation = await this.#options.expectationOf(caller, key);
    if (expectation === 'unknown') throw this.#options.notExpected(key);
    if (expectation === 'stored') return;
    // Users with an exhausted quota are refused before the body is read.
    (await this.#keepRoom(caller, 1))();
    const received = await this.#receive(key, body);
    await this.#steps.run(nameOf(key), () => this.#keep(caller, key, received));
  }

  async #receive(key: Key, body: AsyncIterable<Uint8Array>): Promise<ReceivedCapture> {
    try {
      return await this.#options.captures.receive(key, checkedBody(body, key.kind));
    } catch (error) {
      throw asApiError(error);
    }
  }

  /** Keeps the body before its row is written, so that a row always has its body. */
  async #keep(caller: HostCaller, key: Key, received: ReceivedCapture): Promise<void> {
    const { captures, expectationOf, noteStored, notExpected } = this.#options;
    const release = await this.#permit(caller, key, received);
    if (release === undefined) return;
    try {
      await received.keep();
      if (await noteStored(key, received.sizeBytes)) return this.#count(key, received.sizeBytes);
    } finally {
      release();
    }
    // Another server may have stored it concurrently: a host that was cut off repeats the upload at another server.
    if ((await expectationOf(caller, key)) === 'stored') return;
    // The record or run was deleted meanwhile, and its blobs perhaps before this one was kept.
    await captures.deleteRecord(key.recordId);
    throw notExpected(key);
  }

  /** Reserves quota for the body; undefined when it is already stored. Discards the body unless it may be kept. */
  async #permit(caller: HostCaller, key: Key, received: ReceivedCapture): Promise<(() => void) | undefined> {
    const { expectationOf, notExpected } = this.#options;
    let release: (() => void) | undefined;
    try {
      const expectation = await expectationOf(caller, key);
      if (expectation === 'unknown') throw notExpected(key);
      if (expectation === 'expected') release = await this.#keepRoom(caller, received.sizeBytes);
      return release;
    } finally {
      if (release === undefined) await received.discard();
    }
  }

  /**
   * Reserves room in the user's quota. Rejects when the quota is exhausted. Call the returned function when the body is
   * recorded, or never will be.
   */
  #keepRoom({ userId }: HostCaller, sizeBytes: number): Promise<() => void> {
    return this.#options.limits.keepRoom('capture_bytes', userId, sizeBytes);
  }

  #count({ kind }: Key, sizeBytes: number): void {
    const { figures } = this.#options;
    figures.captures.inc({ kind });
    figures.captureBytes.inc(sizeBytes);
  }
}

function asApiError(error: unknown): unknown {
  const code = errorCodeOf(error);
  const isCutOff = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  if (isCutOff) return ApiError.of('invalid_request', { problem: 'The body was cut off' }, { cause: error });
  return error;
}

interface UploadRoute<Contract extends RouteContract> {
  kindOf: (request: RouteRequest<Contract>) => BlobKind;
  take: (request: RouteRequest<Contract>, body: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** Serves an endpoint whose body is not JSON. No other routes accept such bodies. */
export async function addUploadRoute<Contract extends RouteContract>(
  app: FastifyInstance,
  contract: Contract,
  { kindOf, take }: UploadRoute<Contract>,
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    addRawRoute(scope, contract, async (request, reply) => {
      requireHeaders(request.raw, kindOf(request));
      // The socket stays open, so that a refusal reaches the host.
      await take(request, request.raw.raw.iterator({ destroyOnReturn: false }));
      return reply.send({ success: true });
    });
  });
}

function requireHeaders({ headers, routeOptions }: FastifyRequest, kind: BlobKind): void {
  const given = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const contentType = contentTypes[kind];
  if (given !== contentType) throw ApiError.of('wrong_capture_type', { content_type: contentType });
  if (Number(headers['content-length'] ?? 0) > (routeOptions.bodyLimit ?? 0)) throw tooLarge(kind);
}

import type { CaptureKind } from '@phalanx/protocol';

import { errorCodeOf } from '../errors/error-code.ts';
import { ApiError } from '../errors/api-error.ts';
import type { CaptureKey, Captures, ReceivedCapture } from './captures.ts';
import { checkedBody } from './checked-body.ts';

/** What the records know of a capture. */
export type Expectation = 'unknown' | 'expected' | 'stored';

export interface CaptureNotes {
  /** Whether this user's host has announced the capture. */
  expectationOf: (userId: string, key: CaptureKey) => Promise<Expectation>;
  /** Notes that it is there. False: nobody expects it any more. */
  noteStored: (key: CaptureKey, sizeBytes: number) => Promise<boolean>;
}

interface Options extends CaptureNotes {
  captures: Captures;
  /** Throws when the user has no room for it. To be called when it is noted. */
  keepRoom: (userId: string, sizeBytes: number) => Promise<() => void>;
  /** Told the size of each capture that was taken in. */
  onStored: (kind: CaptureKind, sizeBytes: number) => void;
}

const nameOf = ({ recordId, screenId, kind }: CaptureKey): string => `${recordId} ${screenId} ${kind}`;

const notExpected = ({ recordId, screenId, kind }: CaptureKey): ApiError =>
  ApiError.of('capture_not_expected', { record_id: recordId, screen_id: screenId, kind });

/** Takes in captures that hosts have announced. */
export class CaptureUploads {
  readonly #options: Options;
  /** The end of the last step on each capture that is being kept. */
  readonly #busy = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The body is read only when it is wanted; a capture that is there stays as it is. */
  async take(userId: string, key: CaptureKey, body: AsyncIterable<Uint8Array>): Promise<void> {
    const expectation = await this.#options.expectationOf(userId, key);
    if (expectation === 'unknown') throw notExpected(key);
    if (expectation === 'stored') return;
    // Whoever has no room at all need not send it.
    (await this.#options.keepRoom(userId, 1))();
    const received = await this.#receive(key, body);
    await this.#inTurn(nameOf(key), () => this.#keep(userId, key, received));
  }

  async #receive(key: CaptureKey, body: AsyncIterable<Uint8Array>): Promise<ReceivedCapture> {
    try {
      return await this.#options.captures.receive(checkedBody(body, key.kind));
    } catch (error) {
      throw asApiError(error);
    }
  }

  /** First the file, then the record: what a record names is there. */
  async #keep(userId: string, key: CaptureKey, received: ReceivedCapture): Promise<void> {
    const { captures, expectationOf, keepRoom, noteStored, onStored } = this.#options;
    const expectation = await expectationOf(userId, key);
    if (expectation !== 'expected') {
      await received.discard();
      if (expectation === 'stored') return;
      throw notExpected(key);
    }
    const release = await keepRoom(userId, received.sizeBytes).catch(async (error: unknown) => {
      await received.discard();
      throw error;
    });
    try {
      await received.keep(key);
      if (await noteStored(key, received.sizeBytes)) return onStored(key.kind, received.sizeBytes);
    } finally {
      release();
    }
    // Another server has taken it at the same time: a host that was cut off sends it again elsewhere.
    if ((await expectationOf(userId, key)) === 'stored') return;
    // The record was deleted meanwhile, and its captures perhaps before this one came.
    await captures.deleteRecord(key.recordId);
    throw notExpected(key);
  }

  async #inTurn(name: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#busy.get(name) ?? Promise.resolve()).then(work);
    const end = turn.catch(() => undefined);
    this.#busy.set(name, end);
    try {
      await turn;
    } finally {
      if (this.#busy.get(name) === end) this.#busy.delete(name);
    }
  }
}

function asApiError(error: unknown): unknown {
  const code = errorCodeOf(error);
  const isCutOff = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  if (isCutOff) return ApiError.of('invalid_request', { problem: 'The body was cut off' }, { cause: error });
  return error;
}

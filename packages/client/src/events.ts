import type { ServiceEvent } from '@phalanx/protocol';
import { createParser } from 'eventsource-parser';

import { isPassing, ServiceError, ServiceUnreachable } from './transport.ts';
import { pause } from './pause.ts';
import type { Operations } from './operations.ts';
import { enduring } from './run.ts';
import { FollowedState, type Followed, type FollowedEvent } from './followed-state.ts';

export interface EventOptions extends Followed {
  readonly signal?: AbortSignal;
}

const followedTypes = ['device', 'run', 'log'] as const satisfies readonly FollowedEvent['type'][];

const retryMs = 500;
/** The service sends something at least every 15 s; a cut far away closes nothing. */
const silenceMs = 40_000;

type Events = AsyncGenerator<FollowedEvent, void, undefined>;

/**
 * Resolves when the following has begun; gives what changes from then on. After a break it first gives what has changed
 * meanwhile: each device and each run as it is, and every entry of the logs. Nothing comes twice.
 */
export async function followEvents(api: Operations, options: EventOptions = {}): Promise<Events> {
  const state = new FollowedState(api, options);
  const link = new Link(options.signal);
  try {
    const stream = await openStream(api, options, link.signal);
    // Read the state after the stream is open, which then brings every change since.
    await state.begin(link.signal);
    return follow(api, options, state, { link, stream });
  } catch (error) {
    link.end();
    throw error;
  }
}

async function* follow(
  api: Operations,
  options: EventOptions,
  state: FollowedState,
  first: { link: Link; stream: Events },
): Events {
  for (let { link, stream } = first; ; await pause(retryMs, options.signal)) {
    try {
      for await (const event of stream) yield* state.news(event);
    } catch (error) {
      throwUnlessPassing(error, options.signal);
    } finally {
      link.end();
    }
    link = new Link(options.signal);
    stream = reopened(api, options, state, link.signal);
  }
}

/** Yields the events that were missed, then the new ones. */
async function* reopened(
  api: Operations,
  options: EventOptions,
  state: FollowedState,
  signal: AbortSignal,
): Events {
  const stream = await openStream(api, options, signal);
  yield* state.missed(signal);
  yield* stream;
}

function throwUnlessPassing(error: unknown, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  if (error instanceof ServiceError && !isPassing(error)) throw error;
}

/** One connection; its reader may end it. */
class Link {
  readonly #end = new AbortController();
  readonly signal: AbortSignal;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal === undefined ? this.#end.signal : AbortSignal.any([signal, this.#end.signal]);
  }

  end(): void {
    this.#end.abort();
  }
}

async function openStream(
  api: Operations,
  { deviceId, automationId, types = followedTypes }: EventOptions,
  signal: AbortSignal,
): Promise<Events> {
  const query = {
    // Run events are always asked for: after a break, they alone tell which runs may have more log entries.
    types: [...new Set([...types, 'run'])].join(','),
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
    ...(automationId === undefined ? {} : { automation_id: automationId }),
  };
  const response = await enduring(() => api.events({ query }, { signal }), signal);
  return readStream(response);
}

async function* readStream(response: Response): Events {
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  const ready: FollowedEvent[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      const parsed: unknown = JSON.parse(data);
      if (event === 'error') throw new ServiceUnreachable('The service has ended the stream of events.');
      // The service writes events by the same contract.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const received = { type: event, ...(parsed as object) } as ServiceEvent;
      if (isFollowed(received)) ready.push(received);
    },
  });
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const isFollowed = (event: ServiceEvent): event is FollowedEvent =>
  followedTypes.some((type) => type === event.type);

async function withinSilence<Result>(reading: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServiceUnreachable('The stream of events is silent.')), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}

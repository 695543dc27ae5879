import { enduring } from './enduring.ts';
import {
  followedTypes,
  Link,
  openEventStream,
  type EventStream,
  type FollowedEvent,
} from './event-stream.ts';
import { FollowedState, type Followed } from './followed-state.ts';
import type { Operations } from './operations.ts';
import { pause } from './pause.ts';
import { isPassing } from './transport.ts';

export interface EventOptions extends Followed {
  readonly signal?: AbortSignal;
}

export type ConnectionUpdate =
  /** Everything up to now was handed out, and what changes comes as it happens. */
  | { readonly type: 'live' }
  /** The service does not answer; the following goes on when it does. */
  | { readonly type: 'away'; readonly error: Error };

export type EventUpdates = AsyncGenerator<FollowedEvent | ConnectionUpdate, void, undefined>;

const retryMs = 500;

/**
 * Resolves when the following has begun; gives what changes from then on. After a break it first gives what has changed
 * meanwhile: each device and each run as it is, and every entry of the logs. Nothing comes twice.
 */
export async function followEvents(api: Operations, options: EventOptions = {}): Promise<EventStream> {
  return eventsOf(await followConnection(api, options));
}

async function* eventsOf(updates: EventUpdates): EventStream {
  for await (const update of updates) if (update.type !== 'live' && update.type !== 'away') yield update;
}

/** The same, and says when the connection breaks and when it is back. */
export async function followConnection(api: Operations, options: EventOptions = {}): Promise<EventUpdates> {
  return follow(api, options, await enduring(() => begin(api, options), options.signal));
}

interface Connected {
  readonly link: Link;
  readonly stream: EventStream;
  readonly state: FollowedState;
}

async function begin(api: Operations, options: EventOptions): Promise<Connected> {
  const state = new FollowedState(api, options);
  const link = new Link(options.signal);
  try {
    const stream = await openStream(api, options, link.signal);
    // Read the state after the stream is open, which then brings every change since.
    await state.begin(link.signal);
    return { link, stream, state };
  } catch (error) {
    link.end();
    throw error;
  }
}

async function* follow(api: Operations, options: EventOptions, first: Connected): EventUpdates {
  const { state } = first;
  for (let { link } = first, updates = live(first.stream, state); ;) {
    let isLive = false;
    try {
      for await (const update of updates) {
        isLive ||= update.type === 'live';
        yield update;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof Error) || !isPassing(error)) throw error;
      // A connection that worked is first opened again.
      if (!isLive) yield { type: 'away', error };
    } finally {
      link.end();
    }
    await pause(retryMs, options.signal);
    link = new Link(options.signal);
    updates = reopened(api, options, state, link.signal);
  }
}

/** Yields the events that were missed, then the new ones. */
async function* reopened(
  api: Operations,
  options: EventOptions,
  state: FollowedState,
  signal: AbortSignal,
): EventUpdates {
  const stream = await openStream(api, options, signal);
  for await (const event of state.missed(signal)) yield* state.news(event);
  yield* live(stream, state);
}

async function* live(stream: EventStream, state: FollowedState): EventUpdates {
  yield { type: 'live' };
  for await (const event of stream) yield* state.news(event);
}

/** Run events are always asked for: after a break, they alone tell which runs may have more log entries. */
const openStream = (
  api: Operations,
  { types = followedTypes, deviceId, automationId }: EventOptions,
  signal: AbortSignal,
): Promise<EventStream> =>
  openEventStream(api, { types: [...new Set([...types, 'run' as const])], deviceId, automationId }, signal);

import { followedTypes, openEventStream, type EventStream, type FollowedEvent } from './event-stream.ts';
import { FollowedState, type Followed } from './followed-state.ts';
import type { Operations } from './operations.ts';
import { reconnected, type ConnectionUpdate } from './reconnected.ts';
import { ServiceUnreachable } from './service-errors.ts';

export interface EventOptions extends Followed {
  readonly signal?: AbortSignal;
}

export type EventUpdates = AsyncGenerator<FollowedEvent | ConnectionUpdate, void, undefined>;

/**
 * Follows events. Resolves when following has begun, and yields later changes. After a broken connection, it first
 * yields what has changed meanwhile: the current state of each device and each run, and all missed log entries. Nothing
 * is yielded twice.
 */
export async function followEvents(api: Operations, options: EventOptions = {}): Promise<EventStream> {
  return eventsOf(await followConnection(api, options));
}

async function* eventsOf(updates: EventUpdates): EventStream {
  for await (const update of updates) if (update.type !== 'live' && update.type !== 'away') yield update;
}

/** Follows events as `followEvents` does, and also reports broken and restored connections. */
export async function followConnection(api: Operations, options: EventOptions = {}): Promise<EventUpdates> {
  const following = new Following(api, options);
  const updates = reconnected((signal) => following.connect(signal), options.signal);
  await untilLive(updates);
  return updates;
}

async function untilLive(updates: EventUpdates): Promise<void> {
  for (let isLive = false; !isLive;) {
    const { value } = await updates.next();
    isLive = value?.type === 'live';
  }
}

class Following {
  readonly #api: Operations;
  readonly #options: EventOptions;
  /** State at the first connection; undefined before it. */
  #state: FollowedState | undefined;

  constructor(api: Operations, options: EventOptions) {
    this.#api = api;
    this.#options = options;
  }

  /** Yields missed events, then new ones. Throws when the connection breaks. */
  async *connect(signal: AbortSignal): EventUpdates {
    const stream = await this.#open(signal);
    // Reads the state after the stream is open, so that the stream contains every later change.
    if (this.#state === undefined) this.#state = await this.#begin(signal);
    else for await (const event of this.#state.missed(signal)) yield* this.#state.news(event);
    yield { type: 'live' };
    for await (const event of stream) yield* this.#state.news(event);
    throw new ServiceUnreachable('The service has ended the stream of events.');
  }

  async #begin(signal: AbortSignal): Promise<FollowedState> {
    const state = new FollowedState(this.#api, this.#options);
    await state.begin(signal);
    return state;
  }

  /**
   * Opens the stream. Run events are always requested: after a broken connection, only they show which runs may have
   * more log entries.
   */
  #open(signal: AbortSignal): Promise<EventStream> {
    const { types = followedTypes, deviceId, automationId } = this.#options;
    const filter = { types: [...new Set([...types, 'run' as const])], deviceId, automationId };
    return openEventStream(this.#api, filter, signal);
  }
}

import { NotTheService, ServiceError } from '@phalanx/client/service-errors';
import { Backoff } from '@phalanx/timing/backoff';
import type { Device, OutOfStepsRecord, RecordGroup, Replay, Run } from '@phalanx/protocol';
import { useEffect } from 'react';

import { call, hangUp, session } from './call.ts';
import { createStore } from './store.ts';

export type Connection = 'connecting' | 'live' | 'reconnecting';

export interface LiveEvents {
  device: { device: Device };
  run: { run: Run };
  record: { record: OutOfStepsRecord };
  group: { group: RecordGroup };
  replay: { replay: Replay };
}

type Listener = (data: never) => void;
const eventNames = ['device', 'run', 'record', 'group', 'replay'] as const;
const maxWaitMs = 10_000;
/** Time without events after which the connection is checked, in ms. */
const quietMs = 10_000;
const answerMs = 5000;

/** Whether the service replies at all; error replies count too, because they concern only the session. */
const isThere = (): Promise<boolean> =>
  call('GET /api/v2/me', {}, { signal: AbortSignal.timeout(answerMs) }).then(
    () => true,
    (error: unknown) => error instanceof ServiceError || error instanceof NotTheService,
  );

/** Connection to the event stream of the service, open while the page is visible. */
class EventConnection {
  readonly state = createStore<Connection>('connecting');
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #resets = new Set<() => void>();
  #source: EventSource | undefined;
  #timer: number | undefined;
  readonly #backoff = new Backoff({ firstMs: 500, maxMs: maxWaitMs, jitter: 0.1 });

  start(): () => void {
    const follow = (): void => (document.hidden ? this.#close() : this.#open());
    const stopFollowing = session.store.subscribe(() => {
      if (session.store.get() === 'signed in') follow();
    });
    document.addEventListener('visibilitychange', follow);
    const lose = (): void => this.#loseLine();
    window.addEventListener('online', follow);
    window.addEventListener('offline', lose);
    follow();
    return () => {
      stopFollowing();
      document.removeEventListener('visibilitychange', follow);
      window.removeEventListener('online', follow);
      window.removeEventListener('offline', lose);
      this.#close();
    };
  }

  on<Name extends keyof LiveEvents>(name: Name, listener: (data: LiveEvents[Name]) => void): () => void {
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known.add(listener));
    return () => known.delete(listener);
  }

  /** Subscribes to reconnects, after which events may have been missed. Returns the unsubscribe function. */
  onReset(listener: () => void): () => void {
    this.#resets.add(listener);
    return () => this.#resets.delete(listener);
  }

  #open(): void {
    if (this.#source !== undefined && this.#source.readyState !== EventSource.CLOSED) return;
    window.clearTimeout(this.#timer);
    const source = new EventSource(`/api/v2/events?types=${eventNames.join(',')}`);
    this.#source = source;
    this.#heard();
    source.onopen = () => {
      this.#backoff.reset();
      this.state.set('live');
      // Called for the first connection too, which opens after the page has begun to load data.
      for (const listener of this.#resets) listener();
    };
    source.onerror = () => this.#lose();
    for (const name of eventNames)
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes events by the same contract
        const event = JSON.parse(data) as never;
        for (const listener of this.#listeners.get(name) ?? []) listener(event);
        this.#heard();
      });
  }

  /** Restarts the idle timer. A connection cut along the way is not closed; the stream would just stay silent. */
  #heard(): void {
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#listen(), quietMs);
  }

  async #listen(): Promise<void> {
    const source = this.#source;
    const isAnswered = await isThere();
    if (source === undefined || this.#source !== source) return;
    if (isAnswered) this.#heard();
    else this.#loseLine();
  }

  #loseLine(): void {
    hangUp();
    this.#lose();
  }

  #lose(): void {
    if (this.#source === undefined) return;
    this.#source.close();
    this.state.set('reconnecting');
    const waitMs = this.#backoff.nextMs();
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#tryAgain(), waitMs);
  }

  /**
   * Reconnects after checking the service. An event stream does not report why it was refused; this request does, and
   * ends an expired session.
   */
  async #tryAgain(): Promise<void> {
    if (document.hidden || session.store.get() !== 'signed in') return;
    if (!(await isThere())) return this.#loseLine();
    if (session.store.get() === 'signed in') this.#open();
  }

  #close(): void {
    window.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    // Changes made while the page is hidden are fetched when it is visible again.
    if (this.state.get() === 'live') this.state.set('reconnecting');
  }
}

export const liveEvents = new EventConnection();

/**
 * Calls `listener` with each event of this name while the component is mounted. `listener` must be stable across
 * renders.
 */
export function useLiveEvent<Name extends keyof LiveEvents>(
  name: Name,
  listener: (data: LiveEvents[Name]) => void,
): void {
  useEffect(() => liveEvents.on(name, listener), [name, listener]);
}

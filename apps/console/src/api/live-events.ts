import type { Device, OutOfStepsRecord, Run } from '@phalanx/protocol';
import { useEffect } from 'react';

import { call } from './call.ts';
import { createStore } from './store.ts';
import { session } from './session.ts';

export type Connection = 'connecting' | 'live' | 'reconnecting';

export interface LiveEvents {
  device: { device: Device };
  run: { run: Run };
  record: { record: OutOfStepsRecord };
}

type Listener = (data: never) => void;
const eventNames = ['device', 'run', 'record'] as const;
const longestWaitMs = 10_000;

/** What changes at the service, for as long as the page can be seen. */
class EventConnection {
  readonly state = createStore<Connection>('connecting');
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #resets = new Set<() => void>();
  #source: EventSource | undefined;
  #timer: number | undefined;
  #failures = 0;

  start(): () => void {
    const follow = (): void => (document.hidden ? this.#close() : this.#open());
    const stopFollowing = session.store.subscribe(() => {
      if (session.store.get() === 'signed in') follow();
    });
    document.addEventListener('visibilitychange', follow);
    window.addEventListener('online', follow);
    follow();
    return () => {
      stopFollowing();
      document.removeEventListener('visibilitychange', follow);
      window.removeEventListener('online', follow);
      this.#close();
    };
  }

  on<Name extends keyof LiveEvents>(name: Name, listener: (data: LiveEvents[Name]) => void): () => void {
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known.add(listener));
    return () => known.delete(listener);
  }

  /** Told when events may have been missed. */
  onReset(listener: () => void): () => void {
    this.#resets.add(listener);
    return () => this.#resets.delete(listener);
  }

  #open(): void {
    if (this.#source !== undefined && this.#source.readyState !== EventSource.CLOSED) return;
    window.clearTimeout(this.#timer);
    const source = new EventSource(`/api/v2/events?types=${eventNames.join(',')}`);
    this.#source = source;
    source.onopen = () => {
      const isFirst = this.state.get() === 'connecting';
      this.#failures = 0;
      this.state.set('live');
      if (!isFirst) for (const listener of this.#resets) listener();
    };
    source.onerror = () => this.#retry();
    for (const name of eventNames)
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes events by the same contract
        const event = JSON.parse(data) as never;
        for (const listener of this.#listeners.get(name) ?? []) listener(event);
      });
  }

  #retry(): void {
    this.#source?.close();
    this.state.set('reconnecting');
    const waitMs = Math.min(longestWaitMs, 500 * 2 ** this.#failures);
    this.#failures += 1;
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#tryAgain(), waitMs);
  }

  /** A stream does not say why it was refused; this does, and ends a session that is over. */
  async #tryAgain(): Promise<void> {
    if (document.hidden || session.store.get() !== 'signed in') return;
    await call('GET /api/v2/me', {}).catch(() => undefined);
    if (session.store.get() === 'signed in') this.#open();
  }

  #close(): void {
    window.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    // What changes while nobody looks is read again afterwards.
    if (this.state.get() === 'live') this.state.set('reconnecting');
  }
}

export const liveEvents = new EventConnection();

/** Calls `listener` with each event of that name while the component is there. It must not change between renders. */
export function useLiveEvent<Name extends keyof LiveEvents>(
  name: Name,
  listener: (data: LiveEvents[Name]) => void,
): void {
  useEffect(() => liveEvents.on(name, listener), [name, listener]);
}

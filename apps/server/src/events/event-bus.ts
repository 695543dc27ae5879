import type { ServiceEvent } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { type Bus, subscribeTo } from '../bus/bus.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { Others } from '../nodes/others.ts';
import { periodically } from '../periodically.ts';

const typeNames = ['device', 'run', 'log', 'record'] as const satisfies readonly ServiceEvent['type'][];

/** An event on its way to those who follow: ready to be written, with what they filter by. */
const FeedEvent = Type.Object({
  type: Type.Enum([...typeNames]),
  userId: Type.String(),
  deviceId: Type.String(),
  automationId: Type.Union([Type.String(), Type.Null()], {
    description: '`null` for a device: it is of interest whatever runs on it',
  }),
  data: Type.String({ description: 'JSON of the event without its type' }),
  lastId: Type.String({ description: 'Of the last log entry; empty for other events' }),
});
export type FeedEvent = Readonly<Static<typeof FeedEvent>>;

type Listener = (event: FeedEvent) => void;

/** Hands events to whoever listens. A listener must not throw. */
export interface EventBus {
  /** False when an event would reach nobody. */
  readonly isFollowed: boolean;
  publish(event: FeedEvent): void;
  /** What is published to this user after it resolves is heard. Resolves with the function that ends it. */
  subscribe(userId: string, listener: Listener): Promise<() => void>;
  /** Registers who is told that events may have been missed. Returns the function that ends it. */
  onGap(listener: () => void): () => void;
}

/** Of this process. */
export class EventsHere implements EventBus {
  readonly #listeners = new Map<string, Set<Listener>>();

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  publish(event: FeedEvent): void {
    for (const listener of this.#listeners.get(event.userId) ?? []) listener(event);
  }

  async subscribe(userId: string, listener: Listener): Promise<() => void> {
    const listeners = this.#listeners.get(userId) ?? new Set();
    this.#listeners.set(userId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(userId);
    };
  }

  onGap(): () => void {
    return () => undefined;
  }
}

const validator = Compile(FeedEvent);
const subjectOf = (userId: string): string => `events.${userId}`;
const topic = 'followed';
const announceEveryMs = 5000;
/** A server that has announced nothing for so long has nobody who follows any more. */
const followedMs = 3 * announceEveryMs;

interface SharedOptions {
  bus: Bus;
  /** This server's. */
  nodeId: string;
  others: Others;
  faults: FaultMonitor;
}

/** Of all servers: each makes events of what happens at it, while somebody follows at any of them. */
export class SharedEvents implements EventBus {
  readonly #options: SharedOptions;
  readonly #here = new EventsHere();
  readonly #gapListeners = new Set<() => void>();
  /** Until when others have somebody who follows, by server. */
  readonly #followers = new Map<string, number>();
  readonly #ends: (() => unknown)[];

  constructor(options: SharedOptions) {
    this.#options = options;
    const { bus, others, faults } = options;
    bus.onGap(() => {
      for (const tell of this.#gapListeners) tell();
    });
    this.#ends = [
      others.answer(topic, (nodeId) => void this.#followers.set(nodeId, performance.now() + followedMs)),
      periodically(faults, announceEveryMs, async () => {
        if (this.#here.isFollowed) await this.#announce();
      }),
    ];
  }

  get isFollowed(): boolean {
    return this.#here.isFollowed || this.#isFollowedElsewhere();
  }

  publish(event: FeedEvent): void {
    this.#here.publish(event);
    if (this.#isFollowedElsewhere())
      this.#options.bus.publish(subjectOf(event.userId), JSON.stringify(event));
  }

  async subscribe(userId: string, listener: Listener): Promise<() => void> {
    const endHere = await this.#here.subscribe(userId, listener);
    const endThere = subscribeTo(this.#options.bus, subjectOf(userId), validator, listener);
    await this.#announce();
    return () => {
      endHere();
      endThere();
    };
  }

  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }

  #isFollowedElsewhere(): boolean {
    const now = performance.now();
    for (const [nodeId, until] of this.#followers) {
      if (until > now) return true;
      this.#followers.delete(nodeId);
    }
    return false;
  }

  #announce(): Promise<void> {
    const { others, nodeId } = this.#options;
    return others.tellAll(topic, nodeId);
  }
}

import type { ServiceEvent } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Bus, subscribeTo } from '../../storage/bus/bus.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Peers } from '../../storage/nodes/peers.ts';
import { periodically } from '../../kernel/periodically.ts';

const typeNames = [
  'device',
  'run',
  'log',
  'record',
  'group',
  'replay',
] as const satisfies readonly ServiceEvent['type'][];

/** A serialized event for subscribers, with the fields that they filter by. */
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

const validator = Compile(FeedEvent);
const subjectOf = (userId: string): string => `events.${userId}`;
const topic = 'followed';
const announceEveryMs = 5000;
/** Time for which a server counts as followed after its last announcement, in ms. */
const followedMs = 3 * announceEveryMs;

interface Options {
  bus: Bus;
  /** ID of this server. */
  nodeId: string;
  peers: Peers;
  faults: FaultMonitor;
}

/**
 * Delivers events to subscribed users at all servers. Each server creates events for its own changes, while any server
 * has a subscriber. Listeners must not throw.
 */
export class EventBus {
  readonly #options: Options;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #gapListeners = new Set<() => void>();
  /** Expiry of the announcements of other servers with subscribers, by node ID. */
  readonly #followers = new Map<string, number>();
  readonly #ends: (() => unknown)[];

  constructor(options: Options) {
    this.#options = options;
    const { bus, peers, faults } = options;
    bus.onGap(() => {
      for (const listener of this.#gapListeners) listener();
    });
    this.#ends = [
      peers.answer(topic, (nodeId) => void this.#followers.set(nodeId, performance.now() + followedMs)),
      periodically(faults, announceEveryMs, async () => {
        if (this.#listeners.size > 0) await this.#announce();
      }),
    ];
  }

  /** Whether any server has subscribers. When false, an event would reach no one. */
  get isFollowed(): boolean {
    return this.#listeners.size > 0 || this.#isFollowedElsewhere();
  }

  publish(event: FeedEvent): void {
    this.#deliver(event);
    if (this.#isFollowedElsewhere())
      this.#options.bus.publish(subjectOf(event.userId), JSON.stringify(event));
  }

  /**
   * Calls `listener` for all events to this user that are published after the promise resolves. Resolves with the
   * function that ends the subscription.
   */
  async subscribe(userId: string, listener: Listener): Promise<() => void> {
    const listeners = this.#listeners.get(userId) ?? new Set();
    this.#listeners.set(userId, listeners.add(listener));
    const endThere = subscribeTo(this.#options.bus, subjectOf(userId), validator, listener);
    await this.#announce();
    return () => {
      endThere();
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(userId);
    };
  }

  /** Registers a listener that is called when events may have been missed. Returns the function that ends it. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }

  #deliver(event: FeedEvent): void {
    for (const listener of this.#listeners.get(event.userId) ?? []) listener(event);
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
    const { peers, nodeId } = this.#options;
    return peers.broadcast(topic, nodeId);
  }
}

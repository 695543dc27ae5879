import { randomBytes } from 'node:crypto';
import type { NumberedScreen } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../../../storage/bus/bus.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { ApiError } from '../../../kernel/errors/api-error.ts';

/** User and phone of a screen. */
export interface ScreenOwner {
  readonly userId: string;
  readonly deviceId: string;
}

interface Kept extends ScreenOwner {
  readonly screen: NumberedScreen;
}

const keptMs = 10 * minuteMs;
const maxOfUser = 100;
/** Approximate maximum of cached bytes; a screen has at most 200 lines. */
const maxBytes = 64 * 1024 * 1024;
const bytesOf = ({ screen }: Kept): number =>
  screen.lines.reduce((sum, { text, identity }) => sum + text.length + identity.key.length + 300, 300);

const subjectOf = (node: string): string => `screens.${node}`;

/**
 * Cache of the numbered screens that callers have received. Each screen stays in the memory of the server that read it.
 * Its ID names that server, and other servers ask it.
 */
export class ScreenCache {
  readonly #bus: Bus;
  /** Prefix of this server's ID. It is short, because callers who read screens pay for each character. */
  readonly #node: string;
  readonly #kept: LRUCache<string, Kept>;
  readonly #ofUser = new Map<string, Set<string>>();

  constructor({ bus, nodeId, clock }: { bus: Bus; nodeId: string; clock: Clock }) {
    this.#bus = bus;
    this.#node = nodeId.slice(0, 8);
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: bytesOf,
      ttl: keptMs,
      ttlResolution: 0,
      perf: { now: () => clock.now() },
      dispose: ({ userId }, id) => this.#forget(userId, id),
    });
    bus.answer(subjectOf(this.#node), async (question) => {
      // The servers of this database alone can publish to the subject, and they send what `#findThere` writes.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const { id, owner } = JSON.parse(question) as { id: string; owner: ScreenOwner };
      return Buffer.from(JSON.stringify(this.#findHere(id, owner) ?? null));
    });
  }

  /** Caches a screen and returns its ID. */
  keep({ userId, deviceId }: ScreenOwner, screen: NumberedScreen): string {
    const id = `${this.#node}-${randomBytes(3).toString('hex')}`;
    const own = this.#ofUser.get(userId) ?? new Set();
    const [oldest] = own;
    if (oldest !== undefined && own.size >= maxOfUser) this.#kept.delete(oldest);
    this.#kept.set(id, { userId, deviceId, screen });
    this.#ofUser.set(userId, own.add(id));
    return id;
  }

  /** Returns a cached screen. Throws `screen_expired`, also for screens of other users. */
  async get(id: string, owner: ScreenOwner): Promise<NumberedScreen> {
    const [node = ''] = id.split('-', 1);
    const found = node === this.#node ? this.#findHere(id, owner) : await this.#findThere(node, id, owner);
    if (found === undefined) throw ApiError.of('screen_expired', { screen_id: id.slice(0, 40) });
    return found;
  }

  #findHere(id: string, { userId, deviceId }: ScreenOwner): NumberedScreen | undefined {
    const kept = this.#kept.get(id);
    return kept?.userId === userId && kept.deviceId === deviceId ? kept.screen : undefined;
  }

  async #findThere(node: string, id: string, owner: ScreenOwner): Promise<NumberedScreen | undefined> {
    try {
      const answer = await this.#bus.ask(subjectOf(node), JSON.stringify({ id, owner }));
      // The value was cached by a server of the same release.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (JSON.parse(answer.toString()) as NumberedScreen | null) ?? undefined;
    } catch {
      // That server has stopped, and its cached screens are lost.
      return undefined;
    }
  }

  #forget(userId: string, id: string): void {
    const own = this.#ofUser.get(userId);
    own?.delete(id);
    if (own?.size === 0) this.#ofUser.delete(userId);
  }
}

import { randomBytes } from 'node:crypto';
import type { NumberedScreen } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../../../storage/bus/bus.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { minuteMs } from '../../../kernel/durations.ts';
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
/** Approximate maximum of kept bytes; a screen has at most 200 lines. */
const maxBytes = 64 * 1024 * 1024;
const bytesOf = ({ screen }: Kept): number =>
  screen.lines.reduce((sum, { text, identity }) => sum + text.length + identity.key.length + 300, 300);

const subjectOf = (node: string): string => `screens.${node}`;

/**
 * The screens that callers have been told of, with the numbers of their lines. Each is in the memory of the server that
 * read it, which its ID names: the others ask that server.
 */
export class ScreenCache {
  readonly #bus: Bus;
  /** Beginning of this server's ID. It is short, because callers who read screens pay for each letter. */
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
      // No sender but the servers of this database reaches the subject, and they send what `#findThere` writes.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const { id, owner } = JSON.parse(question) as { id: string; owner: ScreenOwner };
      return Buffer.from(JSON.stringify(this.#findHere(id, owner) ?? null));
    });
  }

  /** Keeps a screen, and returns its ID. */
  keep({ userId, deviceId }: ScreenOwner, screen: NumberedScreen): string {
    const id = `${this.#node}-${randomBytes(3).toString('hex')}`;
    const own = this.#ofUser.get(userId) ?? new Set();
    const [oldest] = own;
    if (oldest !== undefined && own.size >= maxOfUser) this.#kept.delete(oldest);
    this.#kept.set(id, { userId, deviceId, screen });
    this.#ofUser.set(userId, own.add(id));
    return id;
  }

  /** Throws `screen_expired`, also for the screens of others. */
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
      // The value is what a server of the same release has kept.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (JSON.parse(answer.toString()) as NumberedScreen | null) ?? undefined;
    } catch {
      // That server has ended, and with it its screens.
      return undefined;
    }
  }

  #forget(userId: string, id: string): void {
    const own = this.#ofUser.get(userId);
    own?.delete(id);
    if (own?.size === 0) this.#ofUser.delete(userId);
  }
}

import { hash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import {
  tellChanges,
  tellScreen,
  type CompactScreenView,
  type NumberedScreen,
  type DeviceScreen,
  readCompact,
  type TellableScreen,
  type NodeIdentity,
} from '@phalanx/protocol';
import type { Confinement } from '@phalanx/confinement';
import { LRUCache } from 'lru-cache';

import type { Turns } from '../../../kernel/limits/turns.ts';
import { type Asked, askHost } from '../ask-host.ts';
import { JsonScan } from '../../../http/requests/bodies/json-bounds.ts';
import { ConfinedProcessEnded } from '../../../kernel/processes/confined-process.ts';
import { OnDemandProcess } from '../../../kernel/processes/on-demand-process.ts';
import { parseScreen, type FromProcess, isFromProcess, type ToProcess } from './process/messages.ts';
import type { Bus } from '../../../storage/bus/bus.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';

const program = fileURLToPath(new URL('process/main.ts', import.meta.url));
/** Of 20,000 nodes, each with its bounds. What has more fields than fit into the bytes of an answer is parsed for long. */
const bounds = { depth: 2000, names: 250_000, values: 300_000, objects: 2 * 20_000 + 10 };
/** Of a scan, in about two milliseconds. */
const pieceBytes = 256 * 1024;
/** Without its picture, which is one text. The event loop parses so much in some four milliseconds. */
const mostParsedHere = 512 * 1024;
/** A screen at the bounds takes a tenth. */
const screenBudget = { processorMs: 3000 };

interface ScreenReply {
  /** JSON of the whole reply. */
  readonly body: Buffer;
  /** The same for as long as the screen shows the same. */
  readonly etag: string;
}

interface Reader {
  readonly userId: string;
  /** For reading what hosts answer. */
  readonly turns: Turns;
  readonly reader: ScreenReader;
}

interface Wish extends Reader {
  /** Of the picture, at most. */
  readonly width: number | null;
}

interface CompactWish extends Reader {
  readonly screens: ScreenCache;
  /** The screen whose changes are to be told. */
  readonly since?: string | undefined;
}

/** What a phone shows now, in few words. */
export async function readCompactScreen(
  asked: Asked,
  { screens, since, userId, turns, reader }: CompactWish,
): Promise<CompactScreenView> {
  const owner = { userId, deviceId: asked.device.id };
  const before = since === undefined ? undefined : await screens.get(since, owner);
  const answer = await askHost(asked, 'screen_failed', (ask) =>
    ask({ type: 'screen', serial: asked.device.serial, width: null, picture: false }),
  );
  return turns.run(userId, async () => {
    const screen = await askHost(asked, 'screen_failed', () => reader.readCompact(answer));
    return compactView(screen, { screens, owner, before }).view;
  });
}

export interface Telling {
  readonly screens: ScreenCache;
  readonly owner: ScreenOwner;
  readonly before: NumberedScreen | undefined;
}

/** Tells a caller of a screen, and keeps what was told of. */
export function compactView(
  { captured_at, compact }: ReadScreen,
  { screens, owner, before }: Telling,
): { view: CompactScreenView; told: NumberedScreen } {
  const told = before === undefined ? tellScreen(compact) : tellChanges(before, compact);
  const view = {
    screen_id: screens.keep(owner, told.screen),
    ...{ view: told.view, captured_at, lines: [...told.lines] },
  };
  return { view, told: told.screen };
}

/** What a phone shows now. */
export async function readScreen(asked: Asked, { width, userId, turns, reader }: Wish): Promise<ScreenReply> {
  const answer = await askHost(asked, 'screen_failed', (ask) =>
    ask({ type: 'screen', serial: asked.device.serial, width }),
  );
  return turns.run(userId, () => askHost(asked, 'screen_failed', () => screenReply(answer, reader)));
}

/** Hosts write the time first. */
const captureTime = /^\{"captured_at":\d+,/;
const head = Buffer.from('{"success":true,"screen":');
const tail = Buffer.from('}');

/** The answer is passed on as it is. Between steps that may take milliseconds, others have their turn. */
async function screenReply(answer: Buffer, reader: ScreenReader): Promise<ScreenReply> {
  await reader.check(answer);
  const time = captureTime.exec(answer.toString('latin1', 0, 100))?.[0] ?? '';
  const etag = `"${hash('sha1', answer.subarray(time.length), 'base64url')}"`;
  return { body: Buffer.concat([head, answer, tail]), etag };
}

/** A screen as it is told in few words. */
export interface ReadScreen {
  /** Epoch ms. */
  readonly captured_at: number;
  readonly compact: TellableScreen;
}

/** Reads what hosts answer to `screen`; what is long, in a confined process. Its functions throw when the answer is no screen. */
export class ScreenReader {
  readonly #process: OnDemandProcess<ToProcess, FromProcess>;

  constructor(confinement: Confinement) {
    this.#process = new OnDemandProcess({ confinement, program, maxHeapMb: 256, isReply: isFromProcess });
  }

  async check(answer: Buffer): Promise<void> {
    if (await isLong(answer)) await this.#ask({ answer, isCompact: false });
    else screenOf(answer);
  }

  async readCompact(answer: Buffer): Promise<ReadScreen> {
    if (await isLong(answer)) {
      const reply = await this.#ask({ answer, isCompact: true });
      if (reply.kind === 'compact') return reply;
      throw somethingElse();
    }
    const screen = screenOf(answer);
    await nextTurn();
    return { captured_at: screen.captured_at, compact: readCompact(screen) };
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async #ask(question: ToProcess): Promise<FromProcess> {
    try {
      const reply = await this.#process.ask(question, screenBudget);
      if (reply.kind === 'refused') throw somethingElse();
      return reply;
    } catch (error) {
      if (!(error instanceof ConfinedProcessEnded) || error.reason === 'not_started') throw error;
      const reason = error.reason.replaceAll('_', ' ');
      throw new Error(`what its host answered could not be read (${reason})`, { cause: error });
    }
  }
}

const somethingElse = (): Error => new Error('its host answered with something else');

function screenOf(answer: Buffer): DeviceScreen {
  const screen = parseScreen(answer.toString());
  if (screen === undefined) throw somethingElse();
  return screen;
}

/** Throws when it goes beyond the bounds. A scan of all of it takes some ten milliseconds. */
async function isLong(answer: Buffer): Promise<boolean> {
  const scan = new JsonScan(bounds);
  for (let from = 0; from < answer.length; from += pieceBytes) {
    await nextTurn();
    const excess = scan.push(answer.subarray(from, from + pieceBytes));
    if (excess !== undefined) throw new Error(`what its host answered ${excess}`);
  }
  await nextTurn();
  return scan.bytesAroundText > mostParsedHere;
}

/** Whose screen of which phone. */
interface ScreenOwner {
  readonly userId: string;
  readonly deviceId: string;
}

interface Kept extends ScreenOwner {
  readonly screen: NumberedScreen;
}

const keptMs = 10 * 60_000;
const maxOfUser = 100;
/** About; a screen has at most 200 lines. */
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
  /** Of this server. Short, because whoever reads screens pays for each letter. */
  readonly #node: string;
  readonly #kept: LRUCache<string, Kept>;
  readonly #ofUser = new Map<string, Set<string>>();

  constructor({ bus, nodeId, clock }: { bus: Bus; nodeId: string; clock: Clock }) {
    this.#bus = bus;
    this.#node = nodeId.slice(0, 8);
    this.#kept = new LRUCache({
      ...{ maxSize: maxBytes, sizeCalculation: bytesOf, ttl: keptMs, ttlResolution: 0 },
      perf: { now: () => clock.now() },
      dispose: ({ userId }, id) => this.#forget(userId, id),
    });
    bus.answer(subjectOf(this.#node), async (question) => {
      // Only servers of this database reach the subject, and they write what `find` asks.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const { id, owner } = JSON.parse(question) as { id: string; owner: ScreenOwner };
      return Buffer.from(JSON.stringify(this.#findHere(id, owner) ?? null));
    });
  }

  /** Returns its ID. */
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
      // What the server of the same release has kept.
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

/** Of a line. Throws `invalid_request` when the screen has none of that number. */
export function identityOf({ lines }: NumberedScreen, number: number): NodeIdentity {
  const line = lines.find((one) => one.number === number);
  if (line !== undefined) return line.identity;
  throw ApiError.of('invalid_request', { problem: `Screen has no line ${number}: read it again` });
}

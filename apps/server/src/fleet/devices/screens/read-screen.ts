import { hash } from 'node:crypto';
import {
  numberChanges,
  numberScreen,
  type CompactScreenView,
  type NumberedScreen,
  type NodeIdentity,
} from '@phalanx/protocol';
import type { Turns } from '../../../kernel/limits/turns.ts';
import { type Asked, askHost } from '../ask-host.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { ScreenReader, ReadScreen } from './screen-reader.ts';
import type { ScreenCache, ScreenOwner } from './screen-cache.ts';

interface ScreenReply {
  /** JSON of the whole reply. */
  readonly body: Buffer;
  /** `ETag` that stays the same as long as the content of the screen does. */
  readonly etag: string;
}

interface Reader {
  readonly userId: string;
  /** Turns for parsing the answers of hosts. */
  readonly turns: Turns;
  readonly reader: ScreenReader;
}

interface Wish extends Reader {
  /** Maximum width of the picture. */
  readonly width: number | null;
}

interface CompactWish extends Reader {
  readonly screens: ScreenCache;
  /** ID of the screen to compare with. */
  readonly since?: string | undefined;
}

/** Reads the current screen of a phone in compact form. */
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

export interface ViewOptions {
  readonly screens: ScreenCache;
  readonly owner: ScreenOwner;
  readonly before: NumberedScreen | undefined;
}

/** Numbers the lines of a screen for a caller, and caches the numbered screen. */
export function compactView(
  { captured_at, compact }: ReadScreen,
  { screens, owner, before }: ViewOptions,
): { view: CompactScreenView; numberedScreen: NumberedScreen } {
  const { screen, view, lines } =
    before === undefined ? numberScreen(compact) : numberChanges(before, compact);
  const screen_id = screens.keep(owner, screen);
  return { view: { screen_id, view, captured_at, lines: [...lines] }, numberedScreen: screen };
}

/** Reads the current screen of a phone. */
export async function readScreen(asked: Asked, { width, userId, turns, reader }: Wish): Promise<ScreenReply> {
  const answer = await askHost(asked, 'screen_failed', (ask) =>
    ask({ type: 'screen', serial: asked.device.serial, width }),
  );
  return turns.run(userId, () => askHost(asked, 'screen_failed', () => screenReply(answer, reader)));
}

/** Matches the capture time, which hosts write first. */
const captureTime = /^\{"captured_at":\d+,/;
const head = Buffer.from('{"success":true,"screen":');
const tail = Buffer.from('}');

/**
 * Builds the reply around the unchanged answer of the host. The check yields to the event loop between steps that may
 * take milliseconds.
 */
async function screenReply(answer: Buffer, reader: ScreenReader): Promise<ScreenReply> {
  await reader.check(answer);
  const time = captureTime.exec(answer.toString('latin1', 0, 100))?.[0] ?? '';
  const etag = `"${hash('sha1', answer.subarray(time.length), 'base64url')}"`;
  return { body: Buffer.concat([head, answer, tail]), etag };
}

/** Returns the identity of the node at a line. Throws `invalid_request` when the screen has no line of that number. */
export function identityOf({ lines }: NumberedScreen, number: number): NodeIdentity {
  const line = lines.find((one) => one.number === number);
  if (line !== undefined) return line.identity;
  throw ApiError.of('invalid_request', { problem: `The screen has no line ${number}: read it again` });
}

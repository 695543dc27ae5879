import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  DeviceScreen,
  readCompact,
  tellChanges,
  tellScreen,
  type CompactScreenView,
  type NumberedScreen,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { JsonScan } from '../http/json-bounds.ts';
import type { Turns } from '../limits/turns.ts';
import { type Asked, askHost } from './ask-host.ts';
import type { ScreenOwner, ScreenCache } from './screen-cache.ts';

const validator = Compile(DeviceScreen);
/** Of 20,000 nodes, each with its bounds. What has more fields than fit into the bytes of an answer is parsed for long. */
const bounds = { depth: 2000, names: 250_000, values: 300_000, objects: 2 * 20_000 + 10 };

/** Of a scan, in about two milliseconds. */
const pieceBytes = 256 * 1024;

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
  { screens, since, userId, turns }: CompactWish,
): Promise<CompactScreenView> {
  const owner = { userId, deviceId: asked.device.id };
  const before = since === undefined ? undefined : await screens.get(since, owner);
  const answer = await askHost(asked, 'screen_failed', (ask) =>
    ask({ type: 'screen', serial: asked.device.serial, width: null, picture: false }),
  );
  return turns.run(userId, async () => {
    const screen = await askHost(asked, 'screen_failed', () => checkedScreen(answer));
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
  screen: DeviceScreen,
  { screens, owner, before }: Telling,
): { view: CompactScreenView; told: NumberedScreen } {
  const compact = readCompact(screen);
  const told = before === undefined ? tellScreen(compact) : tellChanges(before, compact);
  const view = {
    screen_id: screens.keep(owner, told.screen),
    ...{ view: told.view, captured_at: screen.captured_at, lines: [...told.lines] },
  };
  return { view, told: told.screen };
}

/** What a phone shows now. */
export async function readScreen(asked: Asked, { width, userId, turns }: Wish): Promise<ScreenReply> {
  const answer = await askHost(asked, 'screen_failed', (ask) =>
    ask({ type: 'screen', serial: asked.device.serial, width }),
  );
  return turns.run(userId, () => askHost(asked, 'screen_failed', () => screenReply(answer)));
}

/** Hosts write the time first. */
const captureTime = /^\{"captured_at":\d+,/;
const head = Buffer.from('{"success":true,"screen":');
const tail = Buffer.from('}');

/** The answer is passed on as it is. Between steps that may take milliseconds, others have their turn. */
async function screenReply(answer: Buffer): Promise<ScreenReply> {
  await checkedScreen(answer);
  const time = captureTime.exec(answer.toString('latin1', 0, 100))?.[0] ?? '';
  const etag = `"${hash('sha1', answer.subarray(time.length), 'base64url')}"`;
  return { body: Buffer.concat([head, answer, tail]), etag };
}

export async function checkedScreen(answer: Buffer): Promise<DeviceScreen> {
  await nextTurn();
  const excess = await excessOf(answer);
  if (excess !== undefined) throw new Error(`what its host answered ${excess}`);
  await nextTurn();
  const screen = findScreen(answer.toString());
  if (screen === undefined) throw new Error('its host answered with something else');
  await nextTurn();
  return screen;
}

/** To scan all of it takes some ten milliseconds. */
async function excessOf(answer: Buffer): Promise<string | undefined> {
  const scan = new JsonScan(bounds);
  for (let from = 0; from < answer.length; from += pieceBytes) {
    const excess = scan.push(answer.subarray(from, from + pieceBytes));
    if (excess !== undefined) return excess;
    await nextTurn();
  }
  return undefined;
}

function findScreen(text: string): DeviceScreen | undefined {
  try {
    const screen: unknown = JSON.parse(text);
    return validator.Check(screen) ? screen : undefined;
  } catch {
    return undefined;
  }
}

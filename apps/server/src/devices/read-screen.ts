import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeviceScreen } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { JsonScan } from '../http/json-bounds.ts';
import type { Turns } from '../limits/turns.ts';
import { type Asked, askHost } from './ask-host.ts';

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

interface Wish {
  /** Of the picture, at most. */
  readonly width: number | null;
  readonly userId: string;
  /** For reading what hosts answer. */
  readonly turns: Turns;
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
  await nextTurn();
  const excess = await excessOf(answer);
  if (excess !== undefined) throw new Error(`what its host answered ${excess}`);
  await nextTurn();
  if (!isScreen(answer.toString())) throw new Error('its host answered with something else');
  await nextTurn();
  const time = captureTime.exec(answer.toString('latin1', 0, 100))?.[0] ?? '';
  const etag = `"${hash('sha1', answer.subarray(time.length), 'base64url')}"`;
  return { body: Buffer.concat([head, answer, tail]), etag };
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

function isScreen(text: string): boolean {
  try {
    return validator.Check(JSON.parse(text));
  } catch {
    return false;
  }
}

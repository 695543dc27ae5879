import { LiveFrame, maxLivePictureBytes } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

const frames = Compile(LiveFrame);
const lineFeed = 0x0a;
const maxHeadBytes = 64 * 1024;

/** Splits an answer into the JSON before its first line feed and the bytes after it. */
export function parseAnswer<Head>(
  answer: Buffer,
  validator: { Check(value: unknown): value is Head },
): { head: Head; bytes: Buffer } {
  const end = answer.subarray(0, maxHeadBytes).indexOf(lineFeed);
  const head = parseJson(answer.toString('utf8', 0, Math.max(end, 0)));
  if (validator.Check(head)) return { head, bytes: answer.subarray(end + 1) };
  throw new Error('its host gave an unexpected answer');
}

/** Parses a picture of a live view or a wall. The bytes are empty when the picture is the known one. */
export function parsePicture(answer: Buffer): { frame: LiveFrame; jpeg: Buffer } {
  const { head: frame, bytes: jpeg } = parseAnswer(answer, frames);
  if (jpeg.length > maxLivePictureBytes)
    throw new Error('its host answered with a picture that is too large');
  return { frame, jpeg };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

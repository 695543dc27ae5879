import { type ScreenMask, ScreenMasks } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { findExcess, jsonBounds } from '../../http/requests/bodies/json-bounds.ts';

export const masksPath = 'masks.json';
/** Maximum size of the masks. Fits a hundred masks with long texts, which the server parses in a millisecond. */
export const maxMasksBytes = 128 * 1024;

const shape = Compile(ScreenMasks);
const example =
  '[{"viewId": "balance"}, {"packageName": "com.example.bank", "textContains": "IBAN"}, {"area": {"left": 0, "top": 0, "right": 1, "bottom": 0.1}}]';

/**
 * Parses the project's masks, which hide sensitive screen content. Throws `invalid_masks`, because unreadable masks
 * would hide nothing.
 */
export function readMasks(text: string): ScreenMask[] {
  const problem = findMasksProblem(text);
  if (problem !== undefined) throw ApiError.of('invalid_masks', { problem });
  return shape.Parse(JSON.parse(text));
}

/** Returns why the text can't be used as masks. */
export function findMasksProblem(text: string): string | undefined {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > maxMasksBytes) return `it has ${sizeBytes} bytes; at most ${maxMasksBytes} are allowed`;
  const excess = findExcess(Buffer.from(text), jsonBounds.masks);
  if (excess !== undefined) return `it ${excess}`;
  const masks = parse(text);
  if (masks === undefined) return 'it is not JSON';
  if (!Array.isArray(masks)) return `it must be a list of masks, such as ${example}`;
  const entries: unknown[] = masks;
  const wrong = entries.findIndex((mask) => !shape.Check([mask]));
  if (wrong !== -1)
    return `mask ${wrong + 1} is invalid. An example of masks: ${example}. Conditions are viewId, packageName, className, text, textContains, description and descriptionContains; an area has left, top, right and bottom from 0 to 1`;
  return shape.Check(masks) ? undefined : 'it has more than 100 masks';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

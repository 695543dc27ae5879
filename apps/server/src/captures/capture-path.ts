import path from 'node:path';
import { validate } from 'uuid';

import type { CaptureKey } from './capture-store.ts';

export const isRecordId = (text: string): boolean => validate(text) && text === text.toLowerCase();

/** By the end of the record's ID, which is random: `3f/<record>`. The only place where a path is made of an ID. */
export function recordPath(id: string): string {
  if (!isRecordId(id)) throw new Error('the ID of a record is not a UUID in lower case');
  return path.posix.join(id.slice(-2), id);
}

/** `3f/<record>/<screen>.tree` */
export function capturePath({ recordId, screenId, kind }: CaptureKey): string {
  if (!isRecordId(screenId)) throw new Error('the ID of a screen is not a UUID in lower case');
  return path.posix.join(recordPath(recordId), `${screenId}.${kind}`);
}

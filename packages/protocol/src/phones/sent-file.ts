import { Type, type Static } from 'typebox';

import { Uuid } from '../ids.ts';

/** Of each part of a sent file but the last. */
export const sentFilePartBytes = 512 * 1024;
/** Of a file that somebody sends to a phone: a gigabyte. */
export const maxSentFileParts = 2048;

/** A part of a file on its way to a phone, from the first, 0, to the last. */
export const SentFilePart = Type.Object(
  {
    upload_id: Type.String({ ...Uuid, description: "The caller's key of this file" }),
    name: Type.String({
      pattern: '^[^/\\u0000-\\u001f\\u007f]*[^./\\u0000-\\u001f\\u007f][^/\\u0000-\\u001f\\u007f]*$',
      maxLength: 200,
      description: 'Of the file, without a folder; an APK, or a bundle of one, is installed',
      examples: ['notes.pdf'],
    }),
    part: Type.Integer({ minimum: 0, maximum: maxSentFileParts - 1, description: 'From 0, in their order' }),
    is_last: Type.Boolean(),
    base64: Type.String({
      maxLength: Math.ceil(sentFilePartBytes / 3) * 4,
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      description: 'At most 512 KiB',
    }),
  },
  { title: 'SentFilePart' },
);
export type SentFilePart = Static<typeof SentFilePart>;

/** `receiving`: there are more parts to come. `working`: the phone is still at it: ask again with the last part. */
export const SentFileState = Type.Enum(['receiving', 'working', 'stored', 'installed'] as const);
export type SentFileState = Static<typeof SentFileState>;

/** What a phone has on its clipboard. */
export const PhoneClipboard = Type.Object({ text: Type.String({ maxLength: 1_000_000 }) });

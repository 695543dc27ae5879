import { Type, type Static } from 'typebox';

import { Uuid } from '../ids.ts';

/** Size of each part of a sent file but the last. */
export const sentFilePartBytes = 512 * 1024;
/** Maximum number of parts of a sent file: a gigabyte. */
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
    folder: Type.Optional(
      Type.String({
        pattern:
          '^/(?:sdcard|storage)(?:/[^/\\u0000-\\u001f\\u007f]*[^./\\u0000-\\u001f\\u007f][^/\\u0000-\\u001f\\u007f]*)*$',
        maxLength: 400,
        description:
          'Of the shared storage, where the file goes; made when it is missing. Default: `/sdcard/Pictures` for pictures, `/sdcard/Movies` for films, `/sdcard/Music` for sound, else `/sdcard/Download`',
        examples: ['/sdcard/DCIM/Camera'],
      }),
    ),
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

/** State of a file so far, and where it is. */
export const SentFile = Type.Object(
  {
    state: SentFileState,
    path: Type.Optional(Type.String({ description: 'Of a stored file, on the phone' })),
    in_media_store: Type.Optional(
      Type.Boolean({
        description:
          'Of a stored file: whether Android has it in its index of media, where galleries and other apps look for files',
      }),
    ),
    not_installed: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Of an installed bundle: names of what in it did not get onto the phone. Of more than 50, the last line says how many more',
      }),
    ),
  },
  { title: 'SentFile' },
);
export type SentFile = Static<typeof SentFile>;

/** Content of a phone's clipboard. */
export const PhoneClipboard = Type.Object({ text: Type.String({ maxLength: 1_000_000 }) });

import { Type, type Static } from 'typebox';

import { Uuid } from '../ids.ts';

/** Size in bytes of each part of a sent file except the last. */
export const sentFilePartBytes = 512 * 1024;
/** Maximum number of parts of a sent file, which is one gigabyte. */
export const maxSentFileParts = 2048;

/** Part of a file sent to a phone, counted from 0. */
export const SentFilePart = Type.Object(
  {
    upload_id: Type.String({ ...Uuid, description: "The caller's key of this file" }),
    name: Type.String({
      pattern: '^[^/\\u0000-\\u001f\\u007f]*[^./\\u0000-\\u001f\\u007f][^/\\u0000-\\u001f\\u007f]*$',
      maxLength: 200,
      description: 'File name without a folder; an APK or a bundle of APKs is installed',
      examples: ['notes.pdf'],
    }),
    folder: Type.Optional(
      Type.String({
        pattern:
          '^/(?:sdcard|storage)(?:/[^/\\u0000-\\u001f\\u007f]*[^./\\u0000-\\u001f\\u007f][^/\\u0000-\\u001f\\u007f]*)*$',
        maxLength: 400,
        description:
          'Folder of the shared storage for the file; it is created if it does not exist. Default: `/sdcard/Pictures` for pictures, `/sdcard/Movies` for videos, `/sdcard/Music` for audio, else `/sdcard/Download`',
        examples: ['/sdcard/DCIM/Camera'],
      }),
    ),
    part: Type.Integer({
      minimum: 0,
      maximum: maxSentFileParts - 1,
      description: 'Number of the part, from 0; parts must be sent in order',
    }),
    is_last: Type.Boolean(),
    base64: Type.String({
      maxLength: Math.ceil(sentFilePartBytes / 3) * 4,
      pattern: '^[A-Za-z0-9+/]*={0,2}$',
      description: 'Content of the part in Base64, at most 512 KiB',
    }),
  },
  { title: 'SentFilePart' },
);
export type SentFilePart = Static<typeof SentFilePart>;

/**
 * State of an upload. `receiving`: further parts are expected. `working`: the phone still processes the file, so send
 * the last part again.
 */
export const SentFileState = Type.Enum(['receiving', 'working', 'stored', 'installed'] as const);
export type SentFileState = Static<typeof SentFileState>;

/** Current state of a sent file, and its place. */
export const SentFile = Type.Object(
  {
    state: SentFileState,
    path: Type.Optional(Type.String({ description: 'Path of a stored file on the device' })),
    in_media_store: Type.Optional(
      Type.Boolean({
        description:
          'For a stored file: whether it is in the media index of Android, where galleries and other apps look for files',
      }),
    ),
    not_installed: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'For an installed bundle: names of its parts that were not installed. If there are more than 50, the last line says how many more',
      }),
    ),
  },
  { title: 'SentFile' },
);
export type SentFile = Static<typeof SentFile>;

/** Content of a phone's clipboard. */
export const PhoneClipboard = Type.Object({ text: Type.String({ maxLength: 1_000_000 }) });

import { maxSentFileParts, sentFilePartBytes, type SentFile, type SentFilePart } from '@phalanx/protocol';

import { randomUuid } from './random-uuid.ts';

export interface FileToSend {
  /** Without a folder. By its end an APK is known: `.apk`, `.apks`, `.xapk`, `.apkm`. */
  readonly name: string;
  /** A folder of the shared storage, such as `/sdcard/DCIM/Camera`. By default where its kind of files is looked for. */
  readonly folder?: string | undefined;
  /** At most a gigabyte. */
  readonly content: Blob;
  /** Hears of the share that has arrived, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/** Sends a file in parts by `post`. Resolves when the phone has installed or stored it, with where it is and what of it is not there. */
export async function sendFile(
  post: (part: SentFilePart) => Promise<SentFile>,
  { name, folder, content, onProgress }: FileToSend,
): Promise<SentFile> {
  const parts = Math.max(1, Math.ceil(content.size / sentFilePartBytes));
  if (parts > maxSentFileParts) throw new RangeError(`${name} is larger than a gigabyte.`);
  const upload_id = randomUuid();
  for (let part = 0; ;) {
    const is_last = part === parts - 1;
    const bytes = content.slice(part * sentFilePartBytes, (part + 1) * sentFilePartBytes);
    const place = folder === undefined ? {} : { folder };
    const sent = await post({ upload_id, name, ...place, part, is_last, base64: await base64Of(bytes) });
    onProgress?.((part + 1) / parts);
    if (sent.state === 'installed' || sent.state === 'stored') return sent;
    // Asked again with the last part while the phone works.
    if (!is_last) part += 1;
  }
}

async function base64Of(part: Blob): Promise<string> {
  const bytes = new Uint8Array(await part.arrayBuffer());
  const letters: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000)
    letters.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(letters.join(''));
}

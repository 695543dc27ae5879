import { maxSentFileParts, sentFilePartBytes, type SentFile, type SentFilePart } from '@phalanx/protocol';

import { randomUuid } from './random-uuid.ts';

export interface FileToSend {
  /** File name without a folder. Its extension identifies an APK: `.apk`, `.apks`, `.xapk`, `.apkm`. */
  readonly name: string;
  /** Folder of the shared storage, such as `/sdcard/DCIM/Camera`. Default: the usual folder for this kind of file. */
  readonly folder?: string | undefined;
  /** Content of at most one gigabyte. */
  readonly content: Blob;
  /** Receives the uploaded share, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/**
 * Uploads a file in parts by `post`. Resolves when the phone has installed or stored it, with its path or the parts
 * that were not installed.
 */
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
    // While the phone works, the last part is sent again to poll the result.
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

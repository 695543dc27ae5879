import { randomUuid } from '@phalanx/client/random-uuid';
import { maxSentFileParts, sentFilePartBytes } from '@phalanx/protocol';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { messageOf } from '../parts/states.tsx';

/** A file that was given to the phone. */
export interface SentFile {
  readonly id: string;
  readonly name: string;
  /** From 0 to 1. */
  readonly done: number;
  /** What came of it, in a word or a sentence; undefined: it is on its way. */
  readonly outcome: string | undefined;
}

async function base64Of(part: Blob): Promise<string> {
  const bytes = new Uint8Array(await part.arrayBuffer());
  const letters: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000)
    letters.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(letters.join(''));
}

/** Resolves with what became of it. `tell` hears of the share that is there. */
async function send(id: string, deviceId: string, file: File, tell: (done: number) => void): Promise<string> {
  const parts = Math.max(1, Math.ceil(file.size / sentFilePartBytes));
  if (parts > maxSentFileParts) throw new Error('It is larger than a gigabyte.');
  for (let part = 0; ;) {
    const isLast = part === parts - 1;
    const body = {
      ...{ upload_id: id, name: file.name, part, is_last: isLast },
      base64: await base64Of(file.slice(part * sentFilePartBytes, (part + 1) * sentFilePartBytes)),
    };
    const { state } = await call('POST /api/v2/devices/:id/files', { params: { id: deviceId }, body });
    tell((part + 1) / parts);
    if (state === 'installed') return 'installed';
    if (state === 'stored') return 'in the folder Download of the phone';
    if (!isLast) part += 1;
  }
}

/** Files that go to the phone, one after the other. */
export function useSentFiles(deviceId: string) {
  const [files, setFiles] = useState<readonly SentFile[]>([]);
  const change = (id: string, changes: Partial<SentFile>): void =>
    setFiles((known) => known.map((one) => (one.id === id ? { ...one, ...changes } : one)));
  const sendAll = async (given: readonly File[]): Promise<void> => {
    const added = given.map((file) => ({ file, id: randomUuid() }));
    setFiles((known) => [
      ...known,
      ...added.map(({ file: { name }, id }) => ({ id, name, done: 0, outcome: undefined })),
    ]);
    for (const { file, id } of added) {
      const outcome = await send(id, deviceId, file, (done) => change(id, { done })).catch(
        (error: unknown) => `not sent: ${messageOf(error)}`,
      );
      change(id, { outcome });
    }
  };
  return { files, send: (given: readonly File[]) => void sendAll(given) };
}

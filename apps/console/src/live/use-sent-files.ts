import { randomUuid } from '@phalanx/client/random-uuid';
import { sendFile } from '@phalanx/client/send-file';
import type { SentFilePart } from '@phalanx/protocol';
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

const outcomes = { installed: 'installed', stored: 'in the folder Download of the phone' } as const;

/** Files that go to the phone, one after the other. */
export function useSentFiles(deviceId: string) {
  const [files, setFiles] = useState<readonly SentFile[]>([]);
  const change = (id: string, changes: Partial<SentFile>): void =>
    setFiles((known) => known.map((one) => (one.id === id ? { ...one, ...changes } : one)));
  const post = (body: SentFilePart) =>
    call('POST /api/v2/devices/:id/files', { params: { id: deviceId }, body });
  const sendAll = async (given: readonly File[]): Promise<void> => {
    const added = given.map((file) => ({ file, id: randomUuid() }));
    setFiles((known) => [
      ...known,
      ...added.map(({ file: { name }, id }) => ({ id, name, done: 0, outcome: undefined })),
    ]);
    for (const { file, id } of added) {
      const toSend = { name: file.name, content: file, onProgress: (done: number) => change(id, { done }) };
      const outcome = await sendFile(post, toSend).then(
        (state) => outcomes[state],
        (error: unknown) => `not sent: ${messageOf(error)}`,
      );
      change(id, { outcome });
    }
  };
  return { files, send: (given: readonly File[]) => void sendAll(given) };
}

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { ReadableStream } from '@yume-chan/stream-extra';

import { untilAborted } from '../../time/time-limit.ts';
import type { PhoneShell } from './phone-shell.ts';

const folder = '/data/local/tmp';
const hashDigits = 12;

interface KeptFile {
  readonly localPath: string;
  readonly sha256: string;
  /** Of its name on the phone, around the hash. */
  readonly prefix: string;
  readonly suffix: string;
}

/** Where a program for `app_process` is on phones: each build has a name of its own, so that hosts of different releases don't disturb each other. */
const pathOf = ({ prefix, sha256, suffix }: KeptFile): string =>
  `${folder}/${prefix}${sha256.slice(0, hashDigits)}${suffix}`;

/** Brings the file to the phone unless this very build is there, and gives its path. Undefined when the phone does not keep it. */
export async function keepFile(
  shell: PhoneShell,
  file: KeptFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = pathOf(file);
  const { stdout } = await shell.run(`sha256sum ${path}; ls ${folder}`, signal);
  if (stdout.startsWith(file.sha256)) return path;
  const { prefix, suffix } = file;
  const old = stdout
    .split(/\s+/)
    .filter((name) => name.startsWith(prefix) && name.endsWith(suffix))
    .filter((name) => /^[0-9a-f]{12}$/.test(name.slice(prefix.length, name.length - suffix.length)));
  if (old.length > 0) await shell.run(`rm -f ${old.map((name) => `${folder}/${name}`).join(' ')}`, signal);
  // Android 14 and newer run no dex that can be written.
  await pushFile(shell, createReadStream(file.localPath), { remotePath: path, permission: 0o400 }, signal);
  const after = await shell.run(`sha256sum ${path}`, signal);
  return after.stdout.startsWith(file.sha256) ? path : undefined;
}

/** Writes a file on the phone by ADB's own file transfer. */
export async function pushFile(
  shell: PhoneShell,
  source: Readable,
  { remotePath, permission = 0o644 }: { readonly remotePath: string; readonly permission?: number },
  signal: AbortSignal,
): Promise<void> {
  const { adb, gone } = shell.connection;
  const sync = await untilAborted(signal, () => adb.sync());
  const chunks = source.iterator({ destroyOnReturn: true });
  const file = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next: IteratorResult<unknown> = await chunks.next();
      if (next.value instanceof Uint8Array) controller.enqueue(next.value);
      else controller.close();
    },
    cancel: () => void source.destroy(),
  });
  try {
    await untilAborted(gone, () =>
      untilAborted(signal, () => sync.write({ filename: remotePath, file, permission })),
    );
  } finally {
    source.destroy();
    Promise.resolve(sync.dispose()).catch(() => {});
  }
}

import type { Readable } from 'node:stream';
import { ReadableStream } from '@yume-chan/stream-extra';
import { untilAborted } from '../../time/time-limit.ts';
import type { PhoneShell } from './phone-shell.ts';

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

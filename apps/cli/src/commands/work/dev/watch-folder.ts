import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readBase } from '../../../project/base-files.ts';
import { listLocalFiles } from '../../../project/list-local-files.ts';

/** Notifications of the operating system are missing on network drives and in containers; looking works everywhere. */
const lookMs = 300;

/** Which files a push would read, and as of when. */
export async function lookAtFolder(root: string): Promise<string> {
  const { paths } = await listLocalFiles(root, (await readBase(root)).keys());
  const looks = paths.map(async (file) => {
    const found = await stat(path.join(root, file)).catch(() => undefined);
    return `${file} ${found?.mtimeMs} ${found?.size}`;
  });
  return (await Promise.all(looks)).join('\n');
}

interface Watch {
  readonly root: string;
  /** What was seen of the folder before. */
  readonly seen: string;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

/** Tells of each change of the folder's files once they have come to rest, until the signal. */
export async function watchFolder({ root, seen, signal, onChange }: Watch): Promise<void> {
  let [told, last] = [seen, seen];
  while (await isOn(signal)) {
    // A folder that is being moved cannot be read for a moment.
    const now = await lookAtFolder(root).catch(() => last);
    const isAtRest = now === last;
    last = now;
    if (!isAtRest || now === told) continue;
    told = now;
    onChange();
  }
}

const isOn = (signal: AbortSignal): Promise<boolean> => sleep(lookMs, true, { signal }).catch(() => false);

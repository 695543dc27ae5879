import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { tryWrite } from '@phalanx/settings';

import { errorCodeOf } from '../errors/error-code.ts';
import { folderMissing, PartFailed } from './fault.ts';
import type { Probe } from './fault-monitor.ts';

/** A disk on which so much fits has room again; the beginning of it is enough to see that nothing is wrong. */
const thoroughBytes = 1024 * 1024;
const briefBytes = 4096;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error));

/** Writes to the folder, and sees whether it still is the one that holds `file`, which this process has open. */
export async function probeOfFolder(folder: string, file: string): Promise<Probe> {
  const kept = path.join(folder, file);
  const { ino } = await stat(kept);
  return async ({ isThorough }) => {
    try {
      await tryWrite(folder, isThorough ? thoroughBytes : briefBytes);
      if ((await stat(kept)).ino !== ino) throw new PartFailed(folderMissing);
    } catch (error) {
      throw isMissing(error) ? new PartFailed(folderMissing, { cause: error }) : error;
    }
  };
}

/** Sees whether the folder is there. */
export function probeOfPart(folder: string): Probe {
  return async () => {
    await access(folder).catch((error: unknown) => {
      throw isMissing(error) ? new PartFailed(folderMissing, { cause: error }) : error;
    });
  };
}

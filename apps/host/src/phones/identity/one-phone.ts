import { randomUUID } from 'node:crypto';

import type { AdbConnection } from '../../adb/link.ts';
import { createPhoneShell } from '../../driver/shell/phone-shell.ts';
import { askPhone } from '../ask-phone.ts';

/**
 * Property that each Android keeps in memory, separately for each container on one kernel, and that a restart clears.
 * The shell may set properties with this prefix: AOSP, system/core, init/property_service.cpp and sepolicy's
 * property_contexts (`debug.`).
 */
const property = 'debug.phalanx.link';

/**
 * Whether two connections lead to one phone, whatever identity it reports: a word that is written over one connection
 * is read over the other. Rejects when that can't be determined.
 */
export async function leadToOnePhone(one: AdbConnection, other: AdbConnection): Promise<boolean> {
  const word = randomUUID();
  const written = await ask(one, `setprop ${property} ${word}; getprop ${property}`);
  if (written !== word) throw new Error('The phone keeps no property of the shell');
  const read = await ask(other, `getprop ${property}`);
  await ask(one, `setprop ${property} ""`);
  return read === word;
}

async function ask(connection: AdbConnection, command: string): Promise<string> {
  const shell = createPhoneShell(connection);
  const { stdout } = await askPhone(shell, (signal) => shell.run(command, signal));
  return stdout.trim();
}

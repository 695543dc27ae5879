import type { AdbConnection } from '../adb/link.ts';
import { createPhoneShell } from '../driver/phone-shell.ts';
import { askPhone } from './ask-phone.ts';

/** The phone's own serial number; ADB's name for it may change with the cable and may be shared by several phones. Undefined when it has none. */
export async function findSerial(connection: AdbConnection): Promise<string | undefined> {
  const shell = createPhoneShell(connection);
  for (const name of ['ro.serialno', 'ro.boot.serialno']) {
    const { stdout } = await askPhone(shell, (signal) => shell.run(`getprop ${name}`, signal));
    const serial = stdout.trim();
    if (/^[\w.:-]{1,100}$/.test(serial) && serial.toLowerCase() !== 'unknown') return serial;
  }
  return undefined;
}

import type { AdbConnection } from '../../adb/link.ts';
import { createPhoneShell } from '../../driver/shell/phone-shell.ts';
import { askPhone } from '../ask-phone.ts';

export interface PhoneIdentity {
  /** Undefined when it has none of its own. */
  readonly serial: string | undefined;
  /** New at each start of the phone, and no two phones share it. Undefined when the phone does not tell it. */
  readonly bootId: string | undefined;
}

// What cheap phones and images of emulators carry for all of their kind.
const placeholder = /^(?:unknown|none|null|default|0+|f+|1234567890?|0?123456789(?:abcdef)?|emulator.*)$/i;

/** Asks a phone who it is; ADB's name for it may change with the cable and may be shared by several phones. */
export async function identifyPhone(connection: AdbConnection): Promise<PhoneIdentity> {
  const shell = createPhoneShell(connection);
  const question =
    'getprop ro.serialno; getprop ro.boot.serialno; cat /proc/sys/kernel/random/boot_id 2>/dev/null';
  const { stdout } = await askPhone(shell, (signal) => shell.run(question, signal));
  const lines = stdout.split('\n').map((line) => line.trim());
  const serial = lines.slice(0, 2).find((line) => /^[\w.:-]{1,100}$/.test(line) && !placeholder.test(line));
  return { serial, bootId: lines.slice(2).find((line) => /^[0-9a-f-]{36}$/.test(line)) };
}

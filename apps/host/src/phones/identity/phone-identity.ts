import { createHash } from 'node:crypto';

import type { AdbConnection } from '../../adb/link.ts';
import { DriverError } from '../../driver/driver-error.ts';
import { createPhoneShell, type PhoneShell } from '../../driver/shell/phone-shell.ts';
import { askPhone } from '../ask-phone.ts';
import { isOwnNumber } from '../../adb/own-number.ts';

/** Facts of a phone that others do not share, or seldom. */
export interface PhoneIdentity {
  /** Undefined when it has none of its own. */
  readonly serial: string | undefined;
  /** New at each start of the kernel: only containers on one kernel share it. Undefined when the phone does not tell it. */
  readonly bootId: string | undefined;
  /** Drawn at the first start after a factory reset. Undefined until Android's settings can be read. */
  readonly androidId: string | undefined;
  /** Brand, model and code name of the model. */
  readonly kind: string;
  /** The name that wireless debugging announces by mDNS. Undefined where it was never on. */
  readonly mdnsName: string | undefined;
}

const question = [
  'ro.serialno',
  'ro.boot.serialno',
  'ro.product.brand',
  'ro.product.model',
  'ro.product.device',
  'persist.adb.wifi.guid',
].map((name) => `getprop ${name}`);

const maxKindLength = 300;

/** Asks a phone who it is; ADB's name for it may change with the cable and may be shared by several phones. */
export async function identifyPhone(connection: AdbConnection): Promise<PhoneIdentity> {
  const shell = createPhoneShell(connection);
  const whole = [...question, 'cat /proc/sys/kernel/random/boot_id 2>/dev/null'].join('; ');
  const { stdout } = await askPhone(shell, (signal) => shell.run(whole, signal));
  const lines = stdout.split('\n').map((line) => line.trim());
  const [brand = '', model = '', device = '', guid = '', ...rest] = lines.slice(2);
  return {
    serial: lines.slice(0, 2).find(isOwnNumber),
    bootId: rest.find((line) => /^[0-9a-f-]{36}$/.test(line)),
    androidId: await readAndroidId(shell),
    kind: `${brand} ${model} ${device}`.slice(0, maxKindLength),
    mdnsName: /^adb-.{1,200}$/.test(guid) ? guid : undefined,
  };
}

/** Images of emulators shared this one: Android's documentation of `Secure.ANDROID_ID` in its early releases. */
const sharedAndroidId = '9774d56d682e549c';

/** Undefined while Android starts. */
export async function readAndroidId(shell: PhoneShell): Promise<string | undefined> {
  const command = 'settings get secure android_id 2>/dev/null';
  const answer = await askPhone(shell, (signal) => shell.run(command, signal)).catch((error: unknown) => {
    // A system that hangs is the session's matter, which tells of it.
    if (error instanceof DriverError && error.code === 'call_timed_out') return undefined;
    throw error;
  });
  // `Long.toHexString` leaves zeros at the beginning out: android-15.0.0_r1, SettingsProvider.java.
  const id = /^([0-9a-f]{1,16})\s*$/.exec(answer?.stdout ?? '')?.[1];
  return id === sharedAndroidId ? undefined : id;
}

/** Two phones have the same marks only when they are copies of each other. */
export interface PhoneMarks {
  /** Lasts until a factory reset. Undefined when the phone has not told enough. */
  readonly phone: string | undefined;
  /** Lasts until a restart. Undefined when the phone does not tell its boot. */
  readonly boot: string | undefined;
}

/** Digests: the service needs to compare them, and nothing else. */
export function marksOf({ kind, androidId, bootId }: PhoneIdentity): PhoneMarks {
  const digest = (...texts: string[]): string =>
    createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 32);
  return {
    phone: androidId && digest('phone', kind, androidId),
    boot: bootId && digest('boot', kind, bootId, androidId ?? ''),
  };
}

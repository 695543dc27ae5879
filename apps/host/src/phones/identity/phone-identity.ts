import { createHash } from 'node:crypto';

import type { AdbConnection } from '../../adb/link.ts';
import { DriverError } from '../../driver/driver-error.ts';
import { createPhoneShell, type PhoneShell } from '../../driver/shell/phone-shell.ts';
import { askPhone } from '../ask-phone.ts';
import { isOwnNumber } from '../../adb/own-number.ts';

/** Facts of a phone that other phones never or rarely share. */
export interface PhoneIdentity {
  /** Serial number of the phone; undefined when the phone has none of its own. */
  readonly serial: string | undefined;
  /**
   * Boot ID, new at each start of the kernel: only containers on one kernel share it. Undefined when the phone does not
   * report it.
   */
  readonly bootId: string | undefined;
  /** Android ID, generated at the first start after a factory reset. Undefined until Android's settings can be read. */
  readonly androidId: string | undefined;
  /** Brand, model, and code name of the model. */
  readonly kind: string;
  /** Name that wireless debugging announces by mDNS. Undefined when wireless debugging was never on. */
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

/** Asks a phone for its identity. ADB's name for it may change with the cable, and several phones may share it. */
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

/** Android ID that images of emulators shared: Android's documentation of `Secure.ANDROID_ID` in its early releases. */
const sharedAndroidId = '9774d56d682e549c';

/** Returns the Android ID; undefined while Android starts. */
export async function readAndroidId(shell: PhoneShell): Promise<string | undefined> {
  const command = 'settings get secure android_id 2>/dev/null';
  const answer = await askPhone(shell, (signal) => shell.run(command, signal)).catch((error: unknown) => {
    // A hanging system is handled by the session, which reports it.
    if (error instanceof DriverError && error.code === 'call_timed_out') return undefined;
    throw error;
  });
  // `Long.toHexString` omits leading zeros: android-15.0.0_r1, SettingsProvider.java.
  const id = /^([0-9a-f]{1,16})\s*$/.exec(answer?.stdout ?? '')?.[1];
  return id === sharedAndroidId ? undefined : id;
}

/** Marks of a phone for the service. Only two phones that are copies of each other have the same marks. */
export interface PhoneMarks {
  /** Stays the same until a factory reset. Undefined when the phone has not reported enough. */
  readonly phone: string | undefined;
  /** Stays the same until a restart. Undefined when the phone does not report its boot ID. */
  readonly boot: string | undefined;
}

/** Returns the marks as digests: the service only needs to compare them. */
export function marksOf({ kind, androidId, bootId }: PhoneIdentity): PhoneMarks {
  const digest = (...texts: string[]): string =>
    createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 32);
  return {
    phone: androidId && digest('phone', kind, androidId),
    boot: bootId && digest('boot', kind, bootId, androidId ?? ''),
  };
}

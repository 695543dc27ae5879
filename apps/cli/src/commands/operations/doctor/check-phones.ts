import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';

import {
  type ListedDevice,
  listDevices,
  listUsbPhones,
  noAdbServer,
  troubleReason,
  type UsbPhone,
} from '@phalanx/host';
import { parseHostConfig } from '@phalanx/host/config';
import { type Environment, formatAddress } from '@phalanx/settings';

import { environment } from '../../../config.ts';
import { type Finding, note, ok, problem } from './finding.ts';

/**
 * Lists the phones that a host on this machine would find, and those that it would not, each with a remedy. Throws a
 * `SettingError` for a setting that the host would not start with.
 */
export async function checkPhones(settings: Environment): Promise<Finding[]> {
  // A host needs a token only to connect.
  const { adbServer, phones } = parseHostConfig({ ...settings, PHALANX_TOKEN: 'none' });
  const direct = phones.map((address) =>
    note('phone', `${formatAddress(address)} is reached without adb (PHALANX_PHONES).`),
  );
  const plugged = await listUsbPhones();
  if (adbServer === undefined) return [note('adb', 'PHALANX_ADB_SERVER is "off".'), ...direct];
  const listed = await listDevices(adbServer, new AbortController().signal).catch(() => undefined);
  if (listed !== undefined) {
    const server = ok('adb', `An adb server answers at ${formatAddress(adbServer)}.`);
    return [server, ...aboutPhones(listed, plugged), ...direct];
  }
  const text = (await isInstalled('adb'))
    ? noAdbServer(adbServer)
    : 'adb is not installed. On Debian and Ubuntu: "sudo apt install adb", then "adb start-server".';
  const isNeeded = phones.length === 0 || plugged.length > 0;
  return [isNeeded ? problem('adb', text) : note('adb', text), ...aboutPhones([], plugged), ...direct];
}

/** Reports each phone once: a phone that adb lists is not reported again for its USB port. */
export function aboutPhones(listed: readonly ListedDevice[], plugged: readonly UsbPhone[]): Finding[] {
  const ports = new Set(listed.map(({ usbPath }) => usbPath));
  const unlisted = plugged.filter(({ port }) => !ports.has(port));
  if (listed.length === 0 && unlisted.length === 0)
    return [
      note(
        'phone',
        'No phone is plugged in. Without one: "phalanx start --simulated-phones 2". Without a cable: "phalanx phone pair".',
      ),
    ];
  return [...listed.map(aboutListed), ...unlisted.map(aboutUnlisted)];
}

function aboutListed(device: ListedDevice): Finding {
  const { serial, model, state } = device;
  if (state === 'device')
    return ok('phone', `${serial}${model === undefined ? '' : ` (${model})`} is connected.`);
  return problem('phone', troubleReason(device));
}

function aboutUnlisted({ port, name, offersAdb }: UsbPhone): Finding {
  const phone = `The phone at USB port ${port}${name === '' ? '' : ` (${name})`}`;
  return offersAdb
    ? problem(
        'phone',
        `${phone} has USB debugging on, but adb does not list it. Run "adb kill-server", then "adb start-server".`,
      )
    : note(
        'phone',
        `${phone} has USB debugging off. Tap "Build number" seven times in its settings, then switch on "USB debugging" in "Developer options".`,
      );
}

async function isInstalled(program: string): Promise<boolean> {
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = await Promise.all(
    folders.map((folder) =>
      access(path.join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

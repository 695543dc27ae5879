import type { LinkTrouble } from './link.ts';

/** A row of `adb devices -l`. */
export interface ListedDevice {
  readonly serial: string;
  readonly transportId: bigint;
  readonly state: 'device' | LinkTrouble;
  /** ADB's own word, and what it says after it. */
  readonly stateText: string;
  /** The port, such as `1-4.2`; undefined for a phone on the network. */
  readonly usbPath: string | undefined;
  readonly product: string | undefined;
  readonly model: string | undefined;
  readonly device: string | undefined;
}

const states: Readonly<Record<string, ListedDevice['state']>> = {
  device: 'device',
  offline: 'offline',
  unauthorized: 'unauthorized',
  authorizing: 'connecting',
  connecting: 'connecting',
  detached: 'offline',
  recovery: 'recovery',
  rescue: 'recovery',
  sideload: 'sideload',
  bootloader: 'bootloader',
};

// The serial may hold spaces ("(no serial number)"), so the row is read around the state word.
const row =
  /^(.+?)\s+(device|offline|unauthorized|authorizing|connecting|detached|recovery|rescue|sideload|bootloader|host|no permissions|unknown)\b(.*)$/;

/** Rows that say nothing useful (no transport id, an unknown form) are left out. */
export function parseDeviceList(text: string): ListedDevice[] {
  return text.split('\n').flatMap((line) => {
    const match = row.exec(line.trimEnd());
    const [, serial = '', word = '', rest = ''] = match ?? [];
    const id = /(?:^|\s)transport_id:(\d+)/.exec(rest)?.[1];
    if (match === null || id === undefined || word === 'host') return [];
    return [toDevice(serial, word, rest, BigInt(id))];
  });
}

function toDevice(serial: string, word: string, rest: string, transportId: bigint): ListedDevice {
  const field = (name: string): string | undefined => new RegExp(`(?:^|\\s)${name}:(\\S+)`).exec(rest)?.[1];
  const details = /^(\s*\(.*\)|;.*?)(?=\s+\w+:|$)/.exec(rest)?.[1] ?? '';
  return {
    serial,
    transportId,
    state: word === 'no permissions' ? 'no_permissions' : (states[word] ?? 'offline'),
    stateText: `${word}${details}`,
    usbPath: field('usb'),
    product: field('product'),
    model: field('model'),
    device: field('device'),
  };
}

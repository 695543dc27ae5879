import type { LinkTrouble } from './link.ts';

const newPort =
  'after a restart of the phone its port is another one, which "adb mdns services" or its screen tells.';

/** A row of `adb devices -l`. */
export interface ListedDevice {
  readonly serial: string;
  readonly transportId: bigint;
  readonly state: 'device' | LinkTrouble;
  /** ADB's own word for the state, with the text after it. */
  readonly stateText: string;
  /** USB port, such as `1-4.2`; undefined for a phone on the network. */
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

// A serial may contain spaces ("(no serial number)"), so the pattern anchors on the state word.
const row =
  /^(.+?)\s+(device|offline|unauthorized|authorizing|connecting|detached|recovery|rescue|sideload|bootloader|host|no permissions|unknown)\b(.*)$/;

/** Parses the list. Skips rows without useful content (no transport ID, an unknown form). */
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

/**
 * Returns advice to an operator for a phone in this state, in one or two sentences; `done` is the host's own repair.
 */
export function troubleReason({ state, serial, stateText, usbPath }: ListedDevice, done?: string): string {
  switch (state) {
    case 'unauthorized':
      return `The phone ${serial} does not know this computer yet. Confirm "Allow USB debugging" (with "Always allow") on its screen.`;
    case 'connecting':
      return `adb is connecting to the phone ${serial}.`;
    case 'no_permissions':
      return `adb may not open the USB device ${serial} (${stateText}). Add a udev rule for it, or run the adb server as a user who may.`;
    case 'recovery':
      return `The phone ${serial} is in recovery. Choose "Reboot system now" on its screen.`;
    case 'sideload':
      return `The phone ${serial} waits for a sideload. Cancel it and choose "Reboot system now" on its screen.`;
    case 'bootloader':
      return `The phone ${serial} is in its bootloader. Restart it.`;
    case 'device':
      return `adb has a connection to the phone ${serial}.`;
    default: {
      const tries = done === undefined ? '' : ` ${done}.`;
      return usbPath === undefined
        ? `adb sees the phone ${serial} but gets no answer (${stateText}).${tries} Check that it is on this network and wireless debugging is on; ${newPort}`
        : `adb sees the phone ${serial} but gets no answer (${stateText}).${tries} Plug it in again, or switch USB debugging off and on.`;
    }
  }
}

/** Returns why a phone that has left the list of its adb server is away, and what to do about it. */
export function leftReason(device: ListedDevice): string {
  const { serial, usbPath } = device;
  const left =
    usbPath === undefined
      ? `The phone ${serial} has left the network, or adb disconnected it.`
      : 'The phone was unplugged, or adb disconnected it.';
  return `${left} ${returnHint(device)}`;
}

/** Returns advice that brings back a phone that its adb server does not list. */
export const returnHint = ({ usbPath }: ListedDevice): string =>
  usbPath === undefined ? `Use "adb connect" with its address; ${newPort}` : 'Plug it in again.';

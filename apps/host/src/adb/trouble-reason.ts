import type { ListedDevice } from './device-list.ts';

/** What an operator should do about a phone in this state, in one or two sentences; `done` is what the host has done about it. */
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

/** Why a phone is away that has left the list of its adb server, and what to do about it. */
export function leftReason(device: ListedDevice): string {
  const { serial, usbPath } = device;
  const left =
    usbPath === undefined
      ? `The phone ${serial} has left the network, or adb disconnected it.`
      : 'The phone was unplugged, or adb disconnected it.';
  return `${left} ${returnHint(device)}`;
}

/** What brings a phone back that its adb server does not list. */
export const returnHint = ({ usbPath }: ListedDevice): string =>
  usbPath === undefined ? `Use "adb connect" with its address; ${newPort}` : 'Plug it in again.';

const newPort =
  'after a restart of the phone its port is another one, which "adb mdns services" or its screen tells.';

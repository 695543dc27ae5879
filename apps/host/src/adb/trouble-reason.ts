import type { ListedDevice } from './device-list.ts';

/** What an operator should do about a phone in this state, in one or two sentences. */
export function troubleReason({ state, serial, stateText }: ListedDevice): string {
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
    default:
      return `adb sees the phone ${serial} but gets no answer (${stateText}). Plug it in again, or switch USB debugging off and on.`;
  }
}

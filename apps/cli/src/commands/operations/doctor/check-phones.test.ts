import type { ListedDevice, UsbPhone } from '@phalanx/host';
import { expect, it } from 'vitest';

import { aboutPhones } from './check-phones.ts';

const listed = (given: Partial<ListedDevice>): ListedDevice => ({
  serial: 'R58M1',
  transportId: 1n,
  state: 'device',
  stateText: 'device',
  usbPath: '1-1',
  product: undefined,
  model: 'SM_A536B',
  device: undefined,
  ...given,
});
const plugged = (given: Partial<UsbPhone>): UsbPhone => ({
  port: '1-1',
  name: 'Samsung',
  offersAdb: true,
  ...given,
});

interface Case {
  title: string;
  adb: readonly ListedDevice[];
  usb: readonly UsbPhone[];
  state: string;
  text: string;
}

it.each<Case>([
  {
    title: 'is connected',
    adb: [listed({})],
    usb: [plugged({})],
    state: 'ok',
    text: 'R58M1 (SM_A536B) is connected.',
  },
  {
    title: 'does not trust this computer',
    adb: [listed({ state: 'unauthorized', stateText: 'unauthorized' })],
    usb: [plugged({})],
    state: 'problem',
    text: 'Confirm "Allow USB debugging"',
  },
  {
    title: 'may not be opened by adb',
    adb: [listed({ state: 'no_permissions', stateText: 'no permissions (user in plugdev group)' })],
    usb: [plugged({})],
    state: 'problem',
    text: 'Add a udev rule',
  },
  {
    title: 'is not seen by adb',
    adb: [],
    usb: [plugged({})],
    state: 'problem',
    text: 'but adb does not list it',
  },
  {
    title: 'has USB debugging off',
    adb: [],
    usb: [plugged({ offersAdb: false })],
    state: 'note',
    text: 'USB debugging off',
  },
  { title: 'is not there', adb: [], usb: [], state: 'note', text: 'No phone is plugged in' },
])('a phone that $title is told of once, with what to do', ({ adb, usb, state, text }) => {
  expect(aboutPhones(adb, usb)).toEqual([{ part: 'phone', state, text: expect.stringContaining(text) }]);
});

import type { Device } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { deviceIdOf } from './find-by-name.ts';
import { chooseDevices } from './work-options.ts';

const phone = (id: string, more: Partial<Device>): Device => ({
  device_id: id,
  serial: id,
  name: '',
  labels: {},
  state: 'ready',
  reason: '',
  since: 0,
  warnings: [],
  confirmed_at: 0,
  brand: '',
  model: '',
  android_version: '',
  sdk_version: 0,
  screen_width: 0,
  screen_height: 0,
  host: null,
  running: [],
  lease: null,
  role: 'owner',
  accepted: true,
  owner: { id: 'owner', name: 'ada' },
  ...more,
});

const own = phone('own', { serial: 'SIM0001' });
const accepted = phone('accepted', { role: 'launch' });
const waiting = phone('waiting', { serial: 'SIM0001', name: 'Shelf 3', role: 'launch', accepted: false });
const fleet = [waiting, own, accepted];

it('--all-ready means phones that are the caller’s own or accepted', () => {
  expect(chooseDevices(fleet, { device: [], allReady: true })).toEqual(['own', 'accepted']);
  expect(() => chooseDevices([waiting], { device: [], allReady: true })).toThrow('No device is ready');
});

it('a phone that is not accepted is meant by its ID alone, and said to wait where its name is given', () => {
  expect(deviceIdOf(fleet, 'SIM0001')).toBe('own');
  expect(deviceIdOf(fleet, 'waiting')).toBe('waiting');
  expect(() => deviceIdOf(fleet, 'shelf 3')).toThrow(/shared with you by ada, and you have not accepted it/);
  expect(deviceIdOf(fleet, 'nothing')).toBe('nothing');
});

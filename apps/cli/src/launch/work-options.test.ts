import type { Device } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { clientFor } from '../connection/client-for.ts';
import { deviceIdOf } from './find-by-name.ts';
import { chooseDevices, workOf } from './work-options.ts';

const phone = (id: string, more: Partial<Device>): Device => ({
  device_id: id,
  serial: id,
  name: '',
  labels: {},
  state: 'ready',
  reason: '',
  since: 0,
  warnings: [],
  battery_percent: null,
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
  expect(() => deviceIdOf(fleet, 'shelf 3')).toThrow(/shared with you by ada, but you have not accepted it/);
  expect(deviceIdOf(fleet, 'nothing')).toBe('nothing');
});

it('a serial number or name of several phones means none of them: their IDs and hosts are told', () => {
  const at = (id: string, host: string, more: Partial<Device> = {}): Device =>
    phone(id, { serial: 'usb:1-1', host: { id: `host ${host}`, name: host, connected: true }, ...more });
  const places = [at('one', 'lab'), at('two', 'attic'), phone('three', { name: 'usb:1-1' })];
  expect(() => deviceIdOf(places, 'usb:1-1')).toThrow(
    'pass one of these IDs: one (host lab), two (host attic).',
  );
  expect(deviceIdOf(places, 'two')).toBe('two');
  expect(deviceIdOf([at('one', 'lab'), at('two', 'attic', { accepted: false })], 'usb:1-1')).toBe('one');
  const twins = [phone('one', { name: 'Shelf' }), phone('two', { name: 'shelf' })];
  expect(() => deviceIdOf(twins, 'shelf')).toThrow('Several phones are called "shelf"');
});

it('a job without --device and --labels takes any phone', async () => {
  // The test sends no request to the service.
  const api = clientFor('http://localhost:1');
  const flags = { device: [], param: [], locale: [] };
  expect(await workOf(api, flags)).toMatchObject({ selector: 'sdk>=1' });
  expect(await workOf(api, { ...flags, labels: 'pool=night' })).toMatchObject({ selector: 'pool=night' });
  await expect(workOf(api, { ...flags, device: ['a'], labels: 'pool=night' })).rejects.toThrow('not both');
});

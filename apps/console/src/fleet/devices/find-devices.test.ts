import type { Device } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { findDevices } from './find-devices.tsx';

const phone = (
  serial: string,
  state: Device['state'],
  since: number,
  warnings: Device['warnings'] = [],
): Device =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the list looks at no more than this
  ({
    device_id: serial,
    serial,
    state,
    since,
    brand: 'google',
    model: 'Pixel',
    reason: '',
    name: '',
    labels: {},
    host: null,
    warnings,
  }) as Device;
const phones = [
  phone('S10', 'ready', 1),
  phone('S2', 'unauthorized', 3),
  phone('S1', 'busy', 2),
  phone('S3', 'offline', 4),
  phone('S4', 'ready', 5, [{ code: 'storage_low', reason: 'Less than 10 % of the storage is free.' }]),
];
const serialsOf = (devices: readonly Device[]): string[] => devices.map(({ serial }) => serial);

it('finds the phones that need attention, whatever their state', () => {
  expect(serialsOf(findDevices(phones, { attention: true }))).toEqual(['S2', 'S3', 'S4']);
  expect(serialsOf(findDevices(phones, { attention: true, state: 'offline' }))).toEqual(['S3']);
});

it('sorts numbers as numbers, states in their order, and by what changed last', () => {
  expect(serialsOf(findDevices(phones, { sort: 'serial' }))).toEqual(['S1', 'S2', 'S3', 'S4', 'S10']);
  expect(serialsOf(findDevices(phones, { sort: 'state' }))).toEqual(['S10', 'S4', 'S1', 'S2', 'S3']);
  expect(serialsOf(findDevices(phones, { sort: 'since' }))).toEqual(['S4', 'S3', 'S2', 'S1', 'S10']);
});

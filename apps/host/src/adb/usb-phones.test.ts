import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { listUsbPhones } from './usb-phones.ts';

/** Writes a folder in the form of Linux' `/sys/bus/usb/devices`. */
async function writeBus(devices: Readonly<Record<string, { fields?: object; interfaces: string[] }>>) {
  const folder = await mkdtemp(join(tmpdir(), 'phalanx-usb-'));
  const write = async (name: string, fields: object): Promise<void> => {
    await mkdir(join(folder, name));
    for (const [field, value] of Object.entries(fields))
      await writeFile(join(folder, name, field), `${value}\n`);
  };
  for (const [port, { fields = {}, interfaces }] of Object.entries(devices)) {
    await write(port, fields);
    for (const [index, kind] of interfaces.entries()) {
      const [bInterfaceClass, bInterfaceSubClass, bInterfaceProtocol] = kind.split(' ');
      await write(`${port}:1.${index}`, { bInterfaceClass, bInterfaceSubClass, bInterfaceProtocol });
    }
  }
  return folder;
}

it('phones are told from other devices, and those with USB debugging from those without', async () => {
  const folder = await writeBus({
    usb1: { interfaces: [] },
    '1-0': { interfaces: ['09 00 00'] },
    '1-4.2': {
      fields: { manufacturer: 'Google', product: 'Pixel 7' },
      interfaces: ['06 01 01', 'ff 42 01'],
    },
    '1-3': { fields: { product: 'SM-A536B' }, interfaces: ['06 01 01'] },
    '2-1': { fields: { product: 'USB Keyboard' }, interfaces: ['03 01 01'] },
  });
  expect(await listUsbPhones(folder)).toEqual([
    { port: '1-3', name: 'SM-A536B', offersAdb: false },
    { port: '1-4.2', name: 'Google Pixel 7', offersAdb: true },
  ]);
  await rm(folder, { recursive: true });
});

it('a machine that shows no USB has no phones', async () => {
  expect(await listUsbPhones('/nowhere')).toEqual([]);
});

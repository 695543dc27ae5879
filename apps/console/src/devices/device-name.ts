import type { Device } from '@phalanx/protocol';

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** As people call the phone: by the name it was given, else by maker and model. Makers write their own names in small letters. */
export const deviceName = ({
  name,
  brand,
  model,
  serial,
}: Pick<Device, 'name' | 'brand' | 'model' | 'serial'>): string =>
  name || [capitalized(brand), model].filter(Boolean).join(' ') || serial;

export const labelsText = ({ labels }: Pick<Device, 'labels'>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');

/** The name, with the serial number where another phone has the same name. */
export function distinctName(device: Device, all: Iterable<Device>): string {
  const name = deviceName(device);
  for (const other of all)
    if (other.device_id !== device.device_id && deviceName(other) === name)
      return `${name} · ${device.serial}`;
  return name;
}

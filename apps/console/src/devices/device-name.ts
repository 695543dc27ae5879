import type { Device } from '@phalanx/protocol';

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** As people call the phone. Makers write their own names in small letters. */
export const deviceName = ({ brand, model, serial }: Pick<Device, 'brand' | 'model' | 'serial'>): string =>
  [capitalized(brand), model].filter(Boolean).join(' ') || serial;

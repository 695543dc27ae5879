import type { ScreenshotQuality, ScreenTree } from '@phalanx/protocol';

import { frameForm } from '../driver/take-picture-aside.ts';
import type { TakenPicture } from '../driver/taken-picture.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import { callPhone } from '../runs/call-phone.ts';

export type PictureQuality = Exclude<ScreenshotQuality, 'none'>;

/** What records need of a phone. */
export interface PhoneCamera {
  takePicture(quality: PictureQuality, signal: AbortSignal): Promise<TakenPicture>;
  readTree(signal: AbortSignal): Promise<ScreenTree>;
}

/** The same as the presets of `ScreenshotRecord`. */
const presets = {
  low_quality: { format: 'jpeg', quality: frameForm.quality, maxWidth: frameForm.maxWidth },
  high_quality: { format: 'jpeg', quality: 90 },
} as const;

export function createPhoneCamera(
  phones: PhoneWatch,
  phone: { serial: string; deviceId: string },
): PhoneCamera {
  return {
    async takePicture(quality, signal) {
      const found = phones.find(phone.serial);
      if (found === undefined) throw new Error(`The phone ${phone.serial} is not connected to this host.`);
      return found.driver().takePictureAside(presets[quality], signal);
    },
    readTree: (signal) => callPhone(phones, phone, { name: 'screen.content', params: {}, signal }),
  };
}

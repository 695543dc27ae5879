import { phoneSettingHints, type PhoneSettings, readPhoneSettings } from '@phalanx/protocol';
import type { Command } from 'commander';

import { usageError } from '../exit-codes.ts';
import { repeated } from '../repeated.ts';

/** What is set on the phones before the code starts. */
export interface PhoneSettingFlags {
  proxy?: string;
  phoneTimeZone?: string;
  locale: string[];
  location?: string;
  brightness?: string;
}

export const addPhoneSettingOptions = (command: Command): Command =>
  command
    .option('--proxy <host:port>', 'HTTP proxy of the phone while the run goes on')
    .option('--phone-time-zone <zone>', 'time zone of the phone while the run goes on, such as Europe/Berlin')
    .option(
      '--locale <app=tag>',
      'language of an app while the run goes on, such as com.example.shop=de-DE; several times for several apps',
      repeated,
      [],
    )
    .option('--location <lat,lon>', 'where apps are told that the phone is while the run goes on')
    .option('--brightness <n>', 'of the screen while the run goes on, from 0 to 255');

const optionOf = {
  http_proxy: '--proxy',
  time_zone: '--phone-time-zone',
  locale: '--locale',
  location: '--location',
  brightness: '--brightness',
} as const;

/** The part of a body that `addPhoneSettingOptions` gives. */
export function phoneSettingsOf(flags: PhoneSettingFlags): { phone_settings?: PhoneSettings } {
  const { proxy, phoneTimeZone, locale, location, brightness } = flags;
  const texts = {
    http_proxy: proxy,
    time_zone: phoneTimeZone,
    locale: locale.join(','),
    location,
    brightness,
  };
  const { settings, wrong } = readPhoneSettings(texts);
  const [first] = wrong;
  if (first !== undefined) throw usageError(`${optionOf[first]} takes ${phoneSettingHints[first]}.`);
  return settings === undefined ? {} : { phone_settings: settings };
}

import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { readPhoneSettings, textsOfPhoneSettings, PhoneSettings } from './phone-settings.ts';

const shape = Compile(PhoneSettings);

it('what people write of settings of phones is what the API takes, and back', () => {
  const texts = {
    http_proxy: ' proxy-1.example:8080',
    time_zone: 'America/Argentina/Buenos_Aires',
    locale: 'com.example.shop=de-DE, com.example.mail=zh-Hant-TW',
    location: '-33.86, 151.2',
    brightness: '0',
    heads_up: 'off',
  };
  const { settings, wrong } = readPhoneSettings(texts);
  expect(wrong).toEqual([]);
  expect(shape.Parse(settings)).toEqual({
    http_proxy: 'proxy-1.example:8080',
    time_zone: 'America/Argentina/Buenos_Aires',
    locale: { 'com.example.shop': 'de-DE', 'com.example.mail': 'zh-Hant-TW' },
    location: { latitude: -33.86, longitude: 151.2 },
    brightness: 0,
    heads_up: false,
  });
  expect(readPhoneSettings(textsOfPhoneSettings(settings)).settings).toEqual(settings);
  expect(readPhoneSettings({ http_proxy: ' ' })).toEqual({ settings: undefined, wrong: [] });
});

it.each([
  ['http_proxy', 'proxy', 'proxy:0', 'proxy:65536', 'a b:80', '$(reboot):80', "x':80", 'http://x:80'],
  ['time_zone', 'Europe/Berlin; reboot', '../x', '/x', 'UTC+x y'],
  ['locale', 'de-DE', 'com.example.shop=', 'shop=de', 'com.example.shop=de_DE', 'com.example.shop=-x'],
  ['location', '52.52', '91,0', '0,181', '1,2,3', '1,x', ','],
  ['brightness', '256', '-1', '1.5', 'x'],
  ['heads_up', 'no', 'On', '0'],
] as const)('%s is neither read nor taken in other forms', (name, ...texts) => {
  for (const text of texts) {
    expect(readPhoneSettings({ [name]: text }).wrong, text).toEqual([name]);
    expect(shape.Check({ [name]: text }), text).toBe(false);
  }
});

it('a setting that nobody knows is refused', () => {
  expect(shape.Check({ timezone: 'UTC' })).toBe(false);
  expect(shape.Check({ locale: { 'not an app': 'de' } })).toBe(false);
});

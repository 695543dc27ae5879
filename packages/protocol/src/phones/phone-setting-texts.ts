import {
  maxLocales,
  packageForm,
  type PhoneSettings,
  proxyForm,
  tagForm,
  zoneForm,
} from './phone-settings.ts';

/** As a person writes them. */
export type PhoneSettingTexts = Readonly<Partial<Record<keyof PhoneSettings, string | undefined>>>;

const fits = (form: string, text: string): boolean => new RegExp(form).test(text);
const numberIn = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
const isWithin = (value: number, [least, most]: readonly [number, number]): boolean =>
  value >= least && value <= most;

/** Undefined: the text is none. */
const readers: Readonly<Record<keyof PhoneSettings, (text: string) => PhoneSettings | undefined>> = {
  http_proxy: (text) => (fits(proxyForm, text) ? { http_proxy: text } : undefined),
  time_zone: (text) => (fits(zoneForm, text) ? { time_zone: text } : undefined),
  locale: (text) => {
    const pairs = text.split(/[\s,]+/).map((pair): [string, string] => {
      const [app = '', tag = ''] = pair.split('=', 2);
      return [app, tag];
    });
    const areValid = pairs.every(([app, tag]) => fits(packageForm, app) && fits(tagForm, tag));
    return areValid && pairs.length <= maxLocales ? { locale: Object.fromEntries(pairs) } : undefined;
  },
  location: (text) => {
    const [latitude = Number.NaN, longitude = Number.NaN, ...rest] = text.split(',').map(numberIn);
    const isPlace = isWithin(latitude, [-90, 90]) && isWithin(longitude, [-180, 180]) && rest.length === 0;
    return isPlace ? { location: { latitude, longitude } } : undefined;
  },
  brightness: (text) => {
    const brightness = numberIn(text);
    return Number.isInteger(brightness) && isWithin(brightness, [0, 255]) ? { brightness } : undefined;
  },
};

/** What each of them has to be like. */
export const phoneSettingHints: Readonly<Record<keyof PhoneSettings, string>> = {
  http_proxy: 'host:port, such as 10.0.0.5:3128',
  time_zone: 'a name of the IANA time zone database, such as Europe/Berlin',
  locale: 'a package name and a language tag, such as com.example.shop=de-DE',
  location: 'latitude and longitude, such as 52.52,13.4',
  brightness: 'a whole number from 0 to 255',
};

/** What people write; `wrong` has the names of those that are not as their hints say. Empty texts are left out. */
export function readPhoneSettings(texts: PhoneSettingTexts): {
  settings: PhoneSettings | undefined;
  wrong: readonly (keyof PhoneSettings)[];
} {
  const settings: PhoneSettings = {};
  const wrong: (keyof PhoneSettings)[] = [];
  for (const name of ['http_proxy', 'time_zone', 'locale', 'location', 'brightness'] as const) {
    const text = texts[name]?.trim() ?? '';
    if (text === '') continue;
    const read = readers[name](text);
    if (read === undefined) wrong.push(name);
    else Object.assign(settings, read);
  }
  return { settings: Object.keys(settings).length === 0 ? undefined : settings, wrong };
}

/** The same as people write them; the accuracy of a location is left out. */
export function textsOfPhoneSettings(settings: PhoneSettings = {}): PhoneSettingTexts {
  const { locale, location, brightness, ...texts } = settings;
  return {
    ...texts,
    ...(locale !== undefined && {
      locale: Object.entries(locale)
        .map(([app, tag]) => `${app}=${tag}`)
        .join(', '),
    }),
    ...(location !== undefined && { location: `${location.latitude}, ${location.longitude}` }),
    ...(brightness !== undefined && { brightness: String(brightness) }),
  };
}

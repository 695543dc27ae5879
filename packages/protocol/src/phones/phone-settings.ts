import { Type, type Static } from 'typebox';

const packageForm = '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$';

/** Package name of an Android app. */
export const PackageName = Type.String({
  pattern: packageForm,
  maxLength: 255,
});

const port = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const exact = { additionalProperties: false } as const;

/** Maximum number of apps with their own language at the same time. */
const maxLocales = 20;

const proxyForm = `^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?:${port}$`;
const zoneForm = '^[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}$';
const tagForm = '^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$';

/** Settings that a run needs on its phone. The host restores the earlier values after the run. */
export const PhoneSettings = Type.Object(
  {
    http_proxy: Type.Optional(
      Type.String({
        pattern: proxyForm,
        maxLength: 260,
        description: 'HTTP proxy setting of the device, as `host:port`',
        examples: ['10.0.0.5:3128'],
      }),
    ),
    time_zone: Type.Optional(
      Type.String({
        pattern: zoneForm,
        maxLength: 64,
        description: 'Name of the IANA time zone database',
        examples: ['Europe/Berlin'],
      }),
    ),
    locale: Type.Optional(
      Type.Record(PackageName, Type.String({ pattern: tagForm, maxLength: 60 }), {
        ...exact,
        minProperties: 1,
        maxProperties: maxLocales,
        description: 'Languages of apps, by package name. Android 13 or newer',
        examples: [{ 'com.example.shop': 'de-DE' }],
      }),
    ),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ minimum: -90, maximum: 90 }),
          longitude: Type.Number({ minimum: -180, maximum: 180 }),
          accuracy: Type.Optional(
            Type.Number({ minimum: 0.1, maximum: 100_000, description: 'Accuracy, in metres. Default 5' }),
          ),
        },
        {
          ...exact,
          description:
            'Location that the device reports to apps, which can detect that it is a mock location. Android 12 or newer',
          examples: [{ latitude: 52.52, longitude: 13.4 }],
        },
      ),
    ),
    brightness: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: 'Brightness of the screen; 0 is the darkest',
      }),
    ),
    heads_up: Type.Optional(
      Type.Boolean({
        description: 'Whether new notifications may pop up over the top of the screen',
        examples: [false],
      }),
    ),
  },
  { ...exact, title: 'PhoneSettings' },
);
export type PhoneSettings = Static<typeof PhoneSettings>;

/** Field of a launch, a job and a schedule. */
export const phoneSettings = Type.Optional(
  Type.Object(PhoneSettings.properties, {
    ...exact,
    description:
      'Device settings for the run: applied to each device before the code starts, and restored when the run has ended, however it ends. If a device cannot apply one of them, its run fails before any code runs, with `setting_unsupported` or `setting_refused`',
  }),
);

/** Settings as typed by a person. */
export type PhoneSettingTexts = Readonly<Partial<Record<keyof PhoneSettings, string | undefined>>>;

const fits = (form: string, text: string): boolean => new RegExp(form).test(text);
const numberIn = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
const isWithin = (value: number, [min, max]: readonly [number, number]): boolean =>
  value >= min && value <= max;

/** Parsers of the texts; they return undefined for an invalid text. */
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
  heads_up: (text) => (text === 'on' || text === 'off' ? { heads_up: text === 'on' } : undefined),
};

/** Descriptions of each setting's valid values, for people. */
export const phoneSettingHints: Readonly<Record<keyof PhoneSettings, string>> = {
  http_proxy: 'host:port, such as 10.0.0.5:3128',
  time_zone: 'a name of the IANA time zone database, such as Europe/Berlin',
  locale: 'a package name and a language tag, such as com.example.shop=de-DE',
  location: 'latitude and longitude, such as 52.52,13.4',
  brightness: 'a whole number from 0 to 255',
  heads_up: 'on or off',
};

/**
 * Parses settings that a person has typed. `wrong` names those that do not match their hints. Empty texts are skipped.
 */
export function readPhoneSettings(texts: PhoneSettingTexts): {
  settings: PhoneSettings | undefined;
  wrong: readonly (keyof PhoneSettings)[];
} {
  const settings: PhoneSettings = {};
  const wrong: (keyof PhoneSettings)[] = [];
  for (const name of ['http_proxy', 'time_zone', 'locale', 'location', 'brightness', 'heads_up'] as const) {
    const text = texts[name]?.trim() ?? '';
    if (text === '') continue;
    const read = readers[name](text);
    if (read === undefined) wrong.push(name);
    else Object.assign(settings, read);
  }
  return { settings: Object.keys(settings).length === 0 ? undefined : settings, wrong };
}

/** Formats settings as a person types them. Omits the accuracy of a location. */
export function textsOfPhoneSettings(settings: PhoneSettings = {}): PhoneSettingTexts {
  const { locale, location, brightness, heads_up, ...texts } = settings;
  return {
    ...texts,
    ...(locale !== undefined && {
      locale: Object.entries(locale)
        .map(([app, tag]) => `${app}=${tag}`)
        .join(', '),
    }),
    ...(location !== undefined && { location: `${location.latitude}, ${location.longitude}` }),
    ...(brightness !== undefined && { brightness: String(brightness) }),
    ...(heads_up !== undefined && { heads_up: heads_up ? 'on' : 'off' }),
  };
}

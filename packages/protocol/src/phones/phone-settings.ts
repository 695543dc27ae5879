import { Type, type Static } from 'typebox';

export const packageForm = '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$';

/** A package name of Android. */
export const PackageName = Type.String({
  pattern: packageForm,
  maxLength: 255,
});

const port = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const exact = { additionalProperties: false } as const;

/** Apps that may have a language of their own at once. */
export const maxLocales = 20;

export const proxyForm = `^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?:${port}$`;
export const zoneForm = '^[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}$';
export const tagForm = '^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$';

/** What a run wants of its phone while it goes on. The host puts everything back as it was. */
export const PhoneSettings = Type.Object(
  {
    http_proxy: Type.Optional(
      Type.String({
        pattern: proxyForm,
        maxLength: 260,
        description: 'The proxy that apps are told of, as `host:port`',
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
        description: 'The language of apps, by their package names. From Android 13 on',
        examples: [{ 'com.example.shop': 'de-DE' }],
      }),
    ),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ minimum: -90, maximum: 90 }),
          longitude: Type.Number({ minimum: -180, maximum: 180 }),
          accuracy: Type.Optional(
            Type.Number({ minimum: 0.1, maximum: 100_000, description: 'Metres. Default 5' }),
          ),
        },
        {
          ...exact,
          description:
            'Where apps are told that the phone is. They can tell that it is a mock location. From Android 12 on',
          examples: [{ latitude: 52.52, longitude: 13.4 }],
        },
      ),
    ),
    brightness: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: 'Of the screen; 0 is as dark as the phone goes',
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
      'Set on each phone before the code starts, and put back when the run has ended, however it ends. A phone that cannot do one of them fails its run before any code ran, with `setting_unsupported` or `setting_refused`',
  }),
);

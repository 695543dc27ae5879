import { Type, type Static } from 'typebox';

/** The apps that are installed on a phone, by package name. */
export const PhoneApps = Type.Array(
  Type.Object(
    {
      package_name: Type.String({ maxLength: 255 }),
      is_system: Type.Boolean({ description: 'It came with the phone' }),
    },
    { title: 'PhoneApp' },
  ),
  { maxItems: 10_000 },
);
export type PhoneApps = Static<typeof PhoneApps>;

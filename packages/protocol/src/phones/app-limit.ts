import { Type, type Static } from 'typebox';

/** A package, such as `com.example.shop`, or all packages below a name: `com.example.*`. */
export const AppPattern = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)*\\.([A-Za-z][A-Za-z0-9_]*|\\*)$',
  maxLength: 255,
});
export const maxAppPatterns = 50;

/** Apps that a limited token may use on a phone, as hosts are told. */
export const AppLimit = Type.Object({
  apps: Type.Array(AppPattern, { minItems: 1, maxItems: maxAppPatterns }),
  /** Name of the token. */
  token: Type.String(),
});
export type AppLimit = Static<typeof AppLimit>;

export const fitsApps = (apps: readonly string[], packageName: string): boolean =>
  apps.some((app) => (app.endsWith('.*') ? packageName.startsWith(app.slice(0, -1)) : packageName === app));

/** How the message of a host begins that has refused another app: between servers a failure is its message. */
export const appRefusalStart = 'app_not_allowed: ';

/** The apps that are installed on a phone, by package name. */
export const PhoneApps = Type.Array(
  Type.Object(
    {
      package_name: Type.String({ maxLength: 255 }),
      is_system: Type.Boolean({ description: 'Whether the app is a system app' }),
    },
    { title: 'PhoneApp' },
  ),
  { maxItems: 10_000 },
);
export type PhoneApps = Static<typeof PhoneApps>;

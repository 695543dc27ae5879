import { Type, type Static } from 'typebox';

/** Package such as `com.example.shop`, or all packages below a prefix: `com.example.*`. */
export const AppPattern = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)*\\.([A-Za-z][A-Za-z0-9_]*|\\*)$',
  maxLength: 255,
});
export const maxAppPatterns = 50;

/** Apps that a limited token may use on a phone, in the form for hosts. */
export const AppLimit = Type.Object({
  apps: Type.Array(AppPattern, { minItems: 1, maxItems: maxAppPatterns }),
  /** Name of the token. */
  token: Type.String(),
});
export type AppLimit = Static<typeof AppLimit>;

export const fitsApps = (apps: readonly string[], packageName: string): boolean =>
  apps.some((app) => (app.endsWith('.*') ? packageName.startsWith(app.slice(0, -1)) : packageName === app));

/** Prefix of a host's message that refuses another app. Between servers, a failure consists only of its message. */
export const appRefusalStart = 'app_not_allowed: ';

/** Apps installed on a phone, by package name. */
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

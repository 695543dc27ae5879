/** What servers cache, and read again when a row has changed. */
export const cachedThings = [
  'access',
  'sessions',
  'shares',
  'people',
  'leases',
  'labels',
  'jobs',
  'schedules',
] as const;
export type CachedThing = (typeof cachedThings)[number];

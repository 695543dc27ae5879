/** What servers know by heart, and read anew when another one has changed it. */
export const changedThings = ['access', 'sessions', 'shares', 'people', 'leases'] as const;
export type ChangedThing = (typeof changedThings)[number];

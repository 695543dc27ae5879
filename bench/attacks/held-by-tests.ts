/** What no stall of another user shows: the findings that tests hold alone. */
export const heldByTests: readonly (readonly [finding: string, before: string, tests: string])[] = [
  [
    '6',
    'native code in a sandbox process reads files, memory and tokens of the host, and connects',
    'apps/host/src/sandbox/tests/native-code.test.ts, packages/confinement/src/confinement.test.ts',
  ],
  [
    '11',
    'orders rewritten by toJSON, headers smuggled, more fetches and timers than allowed',
    'apps/host/src/sandbox/tests/console-attacks.test.ts, fetch.test.ts, limits.test.ts',
  ],
  ['12', 'an open data folder leaves its files readable', 'apps/server/src/private-files.test.ts'],
  [
    '13',
    'fetch reaches 168.63.129.16 and the addresses of the machine',
    'apps/host/src/fetch/broker/address-policy.test.ts',
  ],
  ['15', 'tokens on command lines and in environments', 'tests/secrets-and-root.test.ts'],
  ['16', 'inherited descriptors reach sandbox processes', 'apps/host/src/sandbox/tests/native-code.test.ts'],
  ['17', 'packages without integrity in the lock', 'scripts/lock-gaps.test.ts'],
];

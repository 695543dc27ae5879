import { defineConfig } from 'vitest/config';

/** For each project. */
const common = {
  pool: 'forks',
  maxWorkers: 2,
  // For a machine that is busy with other things. What hangs is told sooner by the waits of the tests themselves.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // The usual second is none on such a machine.
  expect: { poll: { timeout: 50_000 } },
} as const;

/** What the specification says of launches, logs, files, commits, records and runs. */
const specified = [
  'launches/direct-launches',
  'logs/logs',
  'files/files',
  'commits/commits',
  'records/records',
];

const isModeGiven = process.env['TEST_DATABASE'] !== undefined;
const areEnginesHere = !/postgresql|nats-server|radosgw|s3/.test(process.env['TEST_WITHOUT'] ?? '');

/** Each request at another one of three servers, as `TEST_DATABASE=servers npm test -- apps/server` has all tests. */
const onThreeServers = {
  test: {
    ...common,
    name: 'three servers',
    include: specified.map((name) => `apps/server/src/${name}.test.ts`),
    env: { TEST_DATABASE: 'servers' },
  },
};

export default defineConfig({
  test: {
    globalSetup: ['apps/server/src/testing/start-engines.ts', 'apps/server/src/testing/start-s3.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'all',
          include: [
            'packages/**/*.test.ts',
            'apps/**/*.test.ts',
            'tests/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
        },
      },
      ...(isModeGiven || !areEnginesHere ? [] : [onThreeServers]),
    ],
  },
});

import { defineConfig } from 'vitest/config';

/** For each project. */
const common = {
  pool: 'forks',
  maxWorkers: 2,
  setupFiles: 'apps/server/src/testing/set-up-file.ts',
  // For a machine that is busy with other things. What hangs is told sooner by the waits of the tests themselves.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // The usual second is none on such a machine.
  expect: { poll: { timeout: 50_000 } },
} as const;

// The tier of a file is the end of its name. scripts/test-tiers.ts has the commands.
const all = '{packages,apps,tests,scripts}/**/*.test.ts';
const engines = ['{apps,tests}/**/*.engines.test.ts', 'tests/cluster/**/*.test.ts'];
const world = '{packages,apps,tests}/**/*.world.test.ts';
const eachEngine = 'apps/**/*.each-engine.test.ts';

const areEnginesHere = !/postgresql|nats-server|radosgw/.test(process.env['TEST_WITHOUT'] ?? '');

/** Each request at another one of three servers on PostgreSQL, NATS and S3. */
const onThreeServers = {
  test: {
    ...common,
    name: 'engines: three servers',
    include: [eachEngine],
    env: { TEST_DATABASE: 'servers' },
  },
};

export default defineConfig({
  test: {
    globalSetup: ['apps/server/src/testing/engines/start-engines.ts'],
    projects: [
      {
        test: { ...common, name: 'test', include: [all], exclude: [...engines, world, '**/node_modules/**'] },
      },
      { test: { ...common, name: 'engines', include: engines } },
      ...(areEnginesHere ? [onThreeServers] : []),
      { test: { ...common, name: 'world', include: [world] } },
    ],
  },
});

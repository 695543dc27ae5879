import { defineConfig } from 'vitest/config';

/** For each project. */
const common = {
  pool: 'forks',
  // Each worker loads and warms up what its files import once, which halves the processor time of all.
  isolate: false,
  // Two more than the processors of a small machine, because files also wait: for phones, pauses and disks. Three workers
  // take 5.7 minutes there, four 5.0. Of more, each gets so little that the product's own time limits end what the tests do.
  maxWorkers: 4,
  setupFiles: 'apps/server/src/testing/set-up-file.ts',
  // For a machine that is busy with other things. What hangs is told sooner by the waits of the tests themselves.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // The usual second is none on such a machine.
  expect: { poll: { timeout: 50_000 } },
} as const;

// The tier of a file is the end of its name. scripts/test-tiers.ts has the commands.
const all = '{packages,apps,tests,scripts}/**/*.test.ts';
const engines = '{apps,tests}/**/*.engines.test.ts';
const world = '{packages,apps,tests}/**/*.world.test.ts';
const eachEngine = 'apps/**/*.each-engine.test.ts';

const missing = process.env['TEST_WITHOUT'] ?? '';

/**
 * One more than the processors of a small machine: each of their files has several processes of its own, which compute
 * for less than half of the time.
 */
const ofProcesses = { ...common, maxWorkers: 3 };

const onPostgres = {
  test: {
    ...ofProcesses,
    name: 'engines: PostgreSQL',
    include: [eachEngine],
    env: { TEST_DATABASE: 'postgres' },
  },
};

/** Each request at another one of three servers on PostgreSQL, NATS and S3, and what a release has to last longer. */
const onThreeServers = {
  test: {
    ...common,
    maxWorkers: 2,
    name: 'servers',
    include: [eachEngine, 'tests/cluster/campaign.engines.test.ts'],
    env: { TEST_DATABASE: 'servers', CLUSTER_SECONDS: process.env['CLUSTER_SECONDS'] ?? '90' },
  },
};

export default defineConfig({
  test: {
    globalSetup: ['apps/server/src/testing/engines/start-engines.ts'],
    projects: [
      {
        test: { ...common, name: 'test', include: [all], exclude: [engines, world, '**/node_modules/**'] },
      },
      { test: { ...ofProcesses, name: 'engines', include: [engines] } },
      ...(missing.includes('postgresql') ? [] : [onPostgres]),
      ...(/postgresql|nats-server|radosgw/.test(missing) ? [] : [onThreeServers]),
      { test: { ...ofProcesses, name: 'world', include: [world] } },
    ],
  },
});

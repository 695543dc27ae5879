import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'apps/**/*.test.ts', 'tests/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['apps/server/src/testing/start-engines.ts', 'apps/server/src/testing/start-s3.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // For a machine that is busy with other things. What hangs is told sooner by the waits of the tests themselves.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The usual second is none on such a machine.
    expect: { poll: { timeout: 20_000 } },
  },
});

export interface TestTier {
  readonly command: string;
  /** Patterns of project names in vitest.config.ts. */
  readonly projects: readonly string[];
  /** Time budget in minutes on two slow, otherwise idle processors. */
  readonly budgetMinutes: number;
}

/**
 * Tiers of tests; vitest.config.ts assigns files to tiers by the suffix of their names. A change must pass all except
 * `servers`, a release must pass that too.
 */
export const TEST_TIERS = {
  test: { command: 'npm test', projects: ['test*'], budgetMinutes: 16 },
  engines: { command: 'npm run test:engines', projects: ['engines*'], budgetMinutes: 20 },
  world: { command: 'npm run test:world', projects: ['world*'], budgetMinutes: 50 },
  servers: { command: 'npm run test:servers', projects: ['servers'], budgetMinutes: 28 },
} as const satisfies Readonly<Record<string, TestTier>>;

export type TierName = keyof typeof TEST_TIERS;

export const isTierName = (name: string): name is TierName => name in TEST_TIERS;

export interface TestTier {
  readonly command: string;
  /** Patterns of names in vitest.config.ts. */
  readonly projects: readonly string[];
  /** On two slow processors that do nothing else. */
  readonly budgetMinutes: number;
}

/** vitest.config.ts says which files are of which tier, by the ends of their names. A change has to pass all but `servers`, a release that too. */
export const TEST_TIERS = {
  test: { command: 'npm test', projects: ['test*'], budgetMinutes: 16 },
  engines: { command: 'npm run test:engines', projects: ['engines*'], budgetMinutes: 20 },
  world: { command: 'npm run test:world', projects: ['world*'], budgetMinutes: 50 },
  servers: { command: 'npm run test:servers', projects: ['servers'], budgetMinutes: 28 },
} as const satisfies Readonly<Record<string, TestTier>>;

export type TierName = keyof typeof TEST_TIERS;

export const isTierName = (name: string): name is TierName => name in TEST_TIERS;

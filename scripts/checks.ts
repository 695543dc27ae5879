export interface Check {
  readonly name: string;
  /** Command: a program of node_modules/.bin, or `node` and a script. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Whether the output matters even if the check succeeds. */
  readonly hasWarnings?: boolean;
  readonly repair?: string;
}

/** Checks, slowest first, so that the two lanes end together. */
export const CHECKS: readonly Check[] = [
  { name: 'unused', command: ['knip', '--no-progress', '--no-config-hints'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  // Code for environments without Node: their own settings exclude its types, and two of them also exclude the DOM.
  { name: 'types:protocol', command: ['tsc', '-p', 'packages/protocol'] },
  { name: 'types:automation', command: ['tsc', '-p', 'packages/automation'] },
  { name: 'types:client', command: ['tsc', '-p', 'packages/client'] },
  { name: 'types:console', command: ['tsc', '-p', 'apps/console'] },
  { name: 'types:samples', command: ['tsc', '-p', 'apps/cli/samples'] },
  { name: 'lint', command: ['oxlint', '--deny-warnings', '.'] },
  {
    name: 'lock',
    command: ['node', 'scripts/complete-lock.ts', '--check'],
    repair: 'node scripts/run.mjs scripts/complete-lock.ts',
  },
  {
    name: 'dependencies',
    command: ['node', 'scripts/merge-dependencies.ts', '--check'],
    repair: 'node scripts/run.mjs scripts/merge-dependencies.ts && npm install --package-lock-only',
  },
  {
    name: 'reference',
    command: ['node', 'scripts/write-reference.ts', '--check'],
    repair: 'node scripts/run.mjs scripts/write-reference.ts',
  },
  { name: 'format', command: ['oxfmt', '--check', '.'], repair: 'npm run format' },
  { name: 'imports', command: ['node', 'scripts/check-imports.ts'] },
  { name: 'comments', command: ['node', 'scripts/check-comments.ts'] },
  { name: 'file-sizes', command: ['node', 'scripts/check-file-sizes.ts'], hasWarnings: true },
];

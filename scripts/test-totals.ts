import type { Reporter, TestModule } from 'vitest/node';

interface TestTotals {
  readonly reporter: Reporter;
  /** One line for people and programs: `12 passed, 0 failed, 3 skipped`. */
  summary(): string;
  hasFailed(): boolean;
}

/**
 * Counts the tests of one vitest run. What keeps tests from being counted (a file that can't be loaded, a failed
 * hook, an error outside of every test, an interruption) counts as one failure each: the line never says
 * "0 failed" of a run that failed.
 */
export function testTotals(): TestTotals {
  let [passed, failed, skipped] = [0, 0, 0];
  let hasEnded = false;
  const reporter: Reporter = {
    onTestRunEnd(modules, unhandledErrors, reason) {
      hasEnded = true;
      passed = countTests(modules, 'passed');
      skipped = countTests(modules, 'skipped');
      failed = countTests(modules, 'failed') + countOwnErrors(modules) + unhandledErrors.length;
      if (reason !== 'passed' && failed === 0) failed = 1;
    },
  };
  return {
    reporter,
    summary: () => `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    hasFailed: () => failed > 0 || !hasEnded,
  };
}

function countTests(modules: readonly TestModule[], state: 'passed' | 'failed' | 'skipped'): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
}

function countOwnErrors(modules: readonly TestModule[]): number {
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  return suites.filter((suite) => suite.errors().length > 0).length;
}

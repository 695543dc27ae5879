import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface TestTotals {
  readonly reporter: Reporter;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The files that took longest, a line each: their time, their processor time with that of what they started. */
  slowest(count: number): string;
  hasFailed(): boolean;
  /** Whether there was an error outside of every test. */
  hasFailedOutside(): boolean;
  /** Failures, a line each: the file, the names, and the beginning of the error. */
  failures(): readonly string[];
  /** Paths of the files in which something failed. */
  failedFiles(): readonly string[];
}

/**
 * Counts the tests of one vitest run. Anything that keeps tests from being counted (a file that can't be
 * loaded, a failed hook, an error outside of every test, an interruption) counts as one failure: the line never
 * says "0 failed" of a run that failed.
 */
export function testTotals(): TestTotals {
  let [passed, failed, skipped] = [0, 0, 0];
  let hasEnded = false;
  let files: readonly TestModule[] = [];
  let outside: readonly string[] = [];
  const reporter: Reporter = {
    onTestRunEnd(modules, unhandledErrors, reason) {
      hasEnded = true;
      files = modules;
      passed = countTests(modules, 'passed');
      skipped = countTests(modules, 'skipped');
      failed = countTests(modules, 'failed') + countOwnErrors(modules) + unhandledErrors.length;
      outside = unhandledErrors.map(({ message }) => `outside of every test: ${oneLine(message)}`);
      if (reason !== 'passed' && failed === 0) failed = 1;
    },
  };
  return {
    reporter,
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
    get skipped() {
      return skipped;
    },
    slowest: (count) =>
      files
        .toSorted((one, other) => durationMs(other) - durationMs(one))
        .slice(0, count)
        .map(
          (file) =>
            `${seconds(durationMs(file))}${seconds(file.meta().cpuMs ?? Number.NaN)}  ${file.relativeModuleId}`,
        )
        .join('\n'),
    hasFailed: () => failed > 0 || !hasEnded,
    hasFailedOutside: () => outside.length > 0,
    failures: () => [...files.flatMap(failuresOf), ...outside],
    failedFiles: () => files.filter((file) => file.state() === 'failed').map(({ moduleId }) => moduleId),
  };
}

function countTests(modules: readonly TestModule[], state: 'passed' | 'failed' | 'skipped'): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
}

const suitesOf = (module: TestModule) => [module, ...module.children.allSuites()];

function countOwnErrors(modules: readonly TestModule[]): number {
  return modules.flatMap(suitesOf).filter((suite) => suite.errors().length > 0).length;
}

function failuresOf(module: TestModule): string[] {
  const ofSuites = suitesOf(module).flatMap((suite) => suite.errors().map(({ message }) => oneLine(message)));
  const ofTests = [...module.children.allTests('failed')].map((test) => `${test.fullName}: ${errorOf(test)}`);
  return [...ofSuites, ...ofTests].map((text) => `${module.relativeModuleId} > ${text}`);
}

const errorOf = (test: TestCase): string => oneLine(test.result().errors?.[0]?.message ?? '');

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 500);

const seconds = (ms: number): string => (Number.isNaN(ms) ? '' : `${(ms / 1000).toFixed(1)} s`).padStart(9);

/** Time of a file's imports, hooks and tests. */
function durationMs(file: TestModule): number {
  const { collectDuration, duration } = file.diagnostic();
  return collectDuration + duration;
}

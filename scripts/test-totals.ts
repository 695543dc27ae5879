import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface TestTotals {
  readonly reporter: Reporter;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Returns the slowest files, one per line: wall time, and processor time including started processes. */
  slowest(count: number): string;
  hasFailed(): boolean;
  /** Whether an error occurred outside of every test. */
  hasFailedOutside(): boolean;
  /** Returns the failures, one per line: the file, the names, and the beginning of the error. */
  failures(): readonly string[];
  /** Returns the paths of files with a failure. */
  failedFiles(): readonly string[];
}

/**
 * Counts the tests of one vitest run. Anything that prevents tests from being counted (a file that can't be loaded, a
 * failed hook, an error outside of every test, an interruption) counts as one failure: the line never says "0 failed"
 * about a failed run.
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

/** Returns the time of a file's imports, hooks and tests in ms. */
function durationMs(file: TestModule): number {
  const { collectDuration, duration } = file.diagnostic();
  return collectDuration + duration;
}

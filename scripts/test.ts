// npm test, npm run test:engines, npm run test:world, npm run test:servers [-- <vitest's filters and options>]
import { parseCLI, startVitest } from 'vitest/node';
import { describeTime, findOverrun, measureTier } from './test-budget.ts';
import {
  describeMissing,
  findAdbdRoot,
  findHelperTools,
  findMissing,
  findS3Root,
  isCi,
} from './test-components.ts';
import { isTierName, TEST_TIERS, type TierName } from './test-tiers.ts';
import { testTotals } from './test-totals.ts';

/** Maximum number of failed files to repeat; more are not caused by timing. */
const MAX_REPEATED_FILES = 5;
/** Tests that depend on a seed, for which a second success proves nothing. */
const NEVER_REPEATED = /\/tests\/(cluster\/campaign|fuzz\/)/;

const { tierName, vitestArguments } = readCommandLine();
const tier = TEST_TIERS[tierName];
const missing = findMissing(tierName);
// Tells tests what to skip, because this machine lacks it.
process.env['TEST_WITHOUT'] = missing.map((component) => component.name).join(' ');
process.env['TEST_ADBD_ROOT'] = findAdbdRoot(missing) ?? '';
process.env['TEST_HELPER_TOOLS'] = findHelperTools(missing) ?? '';
process.env['TEST_S3_ROOT'] = findS3Root(missing) ?? '';

const { filter, options } = parseCLI(['vitest', 'run', ...vitestArguments]);
const stopMeasuring = measureTier();
const totals = await run(filter, {});
const finalFiles = totals.failedFiles().filter((file) => NEVER_REPEATED.test(file));
const repeated = await repeatFailed();

const time = stopMeasuring();
// A part of a tier has no budget.
const overrun = vitestArguments.length > 0 ? undefined : findOverrun(time, tier, isCi);
console.log(
  `\nThe slowest files, with their processor time:\n${totals.slowest(10)}\n\n${tier.command}: ${describeTime(time)}`,
);
if (overrun !== undefined) console.error(`\n!!! ${overrun.message}`);
if (missing.length > 0) console.error(`\n${describeMissing(missing)}`);
const hasFailed = finalFiles.length > 0 || (repeated?.hasFailed() ?? totals.hasFailed());
tellFailures();
console.log(`\n${summary()}`);
// Overrides the code that Vitest has set for the first run.
process.exitCode = hasFailed || overrun?.fails === true || (isCi && missing.length > 0) ? 1 : 0;

async function run(
  files: readonly string[],
  more: { maxWorkers?: number },
): Promise<ReturnType<typeof testTotals>> {
  const counted = testTotals();
  const { reporter: names = 'default', ...others } = options;
  const vitest = await startVitest([...files], {
    ...others,
    ...more,
    watch: false,
    project: [...tier.projects],
    reporters: [...[names].flat(), counted.reporter],
  });
  await vitest.close();
  return counted;
}

/**
 * In CI, repeats the files with failures, one at a time with nothing beside them. Returns undefined if there are none
 * or too many.
 */
async function repeatFailed(): Promise<ReturnType<typeof testTotals> | undefined> {
  const files = totals.failedFiles().filter((file) => !finalFiles.includes(file));
  const mayRepeat = files.length > 0 && files.length <= MAX_REPEATED_FILES && !totals.hasFailedOutside();
  if (!isCi || !mayRepeat) return undefined;
  console.log(`\n${files.length} failed. Once more, one at a time:`);
  return run(files, { maxWorkers: 1 });
}

function tellFailures(): void {
  const kind = hasFailed ? 'FAILED' : 'FAILED ONCE, and passed with nothing beside it';
  for (const line of totals.failures()) console.log(`\n!!! ${kind}: ${line}`);
  for (const line of repeated?.failures() ?? []) console.log(`\n!!! FAILED AGAIN: ${line}`);
}

/** Returns one line for people and programs: `12 passed, 0 failed, 3 skipped`. */
function summary(): string {
  const failed = hasFailed ? Math.max(1, repeated?.failed ?? totals.failed) : 0;
  const passed = totals.passed + (totals.failed - failed);
  return `${passed} passed, ${failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`;
}

/** Parses the command line. `--tier=<name>` comes first, from the scripts of package.json. */
function readCommandLine(): { tierName: TierName; vitestArguments: readonly string[] } {
  const [first = '', ...rest] = process.argv.slice(2);
  const [, given] = /^--tier=(.*)/.exec(first) ?? [];
  if (given === undefined) return { tierName: 'test', vitestArguments: process.argv.slice(2) };
  if (!isTierName(given)) throw new Error(`--tier is one of ${Object.keys(TEST_TIERS).join(', ')}`);
  return { tierName: given, vitestArguments: rest };
}

// npm test [-- <vitest's filters and options>]
import { parseCLI, startVitest } from 'vitest/node';
import { describeMissing, findAdbdRoot, findS3Root, isFatal, prepareComponents } from './test-components.ts';
import { testTotals } from './test-totals.ts';

const missing = await prepareComponents();
// For tests: what they must skip, because it is neither here nor installable.
process.env['TEST_WITHOUT'] = missing.map((component) => component.name).join(' ');
process.env['TEST_ADBD_ROOT'] = findAdbdRoot(missing) ?? '';
process.env['TEST_S3_ROOT'] = findS3Root(missing) ?? '';

const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const totals = testTotals();
const vitest = await startVitest(filter, {
  ...options,
  watch: false,
  reporters: [...[options.reporters ?? 'default'].flat(), totals.reporter],
});

console.log(`\n${totals.summary()}`);
if (missing.length > 0) console.error(`\n${describeMissing(missing)}`);
if (totals.hasFailed() || isFatal(missing)) process.exitCode = 1;
await vitest.exit();

// npm run lab -- phone-table: prints the capabilities of the driver by phone maker and connection.
import type { Reporter, TestCase } from 'vitest/node';
import { startVitest } from 'vitest/node';
import { describeMissing, findAdbdRoot, findMissing } from './test-components.ts';

const makers = ['pixel', 'samsung', 'xiaomi', 'oppo', 'tablet-noname'];
const ways = ['direct TCP', 'adb server', 'real adbd'];
const sources = ['uiautomator2', 'resident', 'dump'];

const missing = findMissing().filter(({ name }) => name === 'adb' || name === 'adbd');
process.env['TEST_ADBD_ROOT'] = findAdbdRoot(missing) ?? '';
process.env['TEST_MAKERS'] = makers.join(' ');

/** Results by capability, and then by phone, connection and source. */
const results = new Map<string, Map<string, string>>();

function note(test: TestCase): void {
  const suite = test.parent.type === 'suite' ? test.parent.name : '';
  const row = results.get(test.name) ?? new Map<string, string>();
  results.set(test.name, row.set(suite, test.result().state === 'passed' ? '✓' : '✗'));
}

const reporter: Reporter = {
  onTestCaseResult: note,
  onTestSuiteReady: (suite) => console.error(`${suite.name} …`),
};

const vitest = await startVitest(
  ['apps/host/src/driver/driver.test.ts', 'apps/host/src/driver/driver.world.test.ts'],
  {
    watch: false,
    reporters: [reporter],
  },
);

for (const source of sources) {
  console.log(
    `\nScreen read by ${source}. Each phone: ${ways.join(', ')}; – stands for what is not there.\n`,
  );
  const width = Math.max(...[...results.keys()].map((name) => name.length));
  console.log(`${''.padEnd(width)}  ${makers.map((maker) => maker.padEnd(13)).join(' ')}`);
  for (const [name, row] of results) {
    const cells = makers.map((maker) =>
      ways.map((way) => row.get(`${maker} over ${way} by ${source}`) ?? '–').join(''),
    );
    console.log(`${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(13)).join(' ')}`);
  }
}
if (missing.length > 0) console.error(`\n${describeMissing(missing)}`);
if ([...results.values()].some((row) => [...row.values()].includes('✗'))) process.exitCode = 1;
await vitest.exit();

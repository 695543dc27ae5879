import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasAdb } from '../phones/testing/adb-server-fixture.ts';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import { waitForState } from '../phones/testing/wait-for-phone.ts';
import type { WatchPhonesOptions } from '../phones/watch-phones.ts';
import type { Driver } from './driver.ts';
import { appAndFileScenarios } from './testing/app-and-file-scenarios.ts';
import { driverScenarios } from './testing/driver-scenarios.ts';

type Reach = (
  bed: PhoneTestBed,
  address: { host: string; port: number },
) => Promise<Partial<WatchPhonesOptions>>;

const reaches: Readonly<Record<string, Reach>> = {
  'direct TCP': async (_bed, address) => ({ addresses: [address] }),
  ...((await hasAdb()) && {
    'adb server': async (bed: PhoneTestBed, address: { host: string; port: number }) => {
      const adb = await bed.startAdb();
      await adb.connect(address);
      return { adbServer: adb.address };
    },
  }),
};

const matrix = Object.entries(reaches).flatMap(([way, reach]) => [
  { way, reach, source: 'uiautomator2' as const },
  { way, reach, source: 'dump' as const },
]);

describe.each(matrix)('a driver over $way by $source', ({ reach, source }) => {
  let bed: PhoneTestBed;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    const { host, port } = await bed.startPreparedPhone({
      serial: 'SIM1',
      uiAutomator2: source === 'uiautomator2',
    });
    const watch = bed.watch(await reach(bed, { host, port }));
    driver = (await waitForState(watch, 'SIM1', 'ready')).driver();
  });
  afterAll(async () => {
    await bed.close();
  });

  const scenarios = [...driverScenarios, ...appAndFileScenarios].filter(
    ({ only }) => only === undefined || only === source,
  );
  it.each(scenarios)('$behaviour', async (scenario) => {
    await expect(scenario.run(driver)).resolves.toBeUndefined();
  });
});

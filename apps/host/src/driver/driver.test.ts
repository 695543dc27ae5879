import { type MakerName, makerProfiles, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasAdb } from '../phones/testing/adb-server-fixture.ts';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import { waitForPhone } from '../phones/testing/wait-for-phone.ts';
import type { WatchPhonesOptions } from '../phones/watch-phones.ts';
import type { Driver } from './driver.ts';
import { appAndFileScenarios } from './testing/app-and-file-scenarios.ts';
import { driverScenarios } from './testing/driver-scenarios.ts';

type Reach = (bed: PhoneTestBed, phone: SimulatedPhone) => Promise<Partial<WatchPhonesOptions>>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
const makerNames = Object.keys(makerProfiles) as MakerName[];
const adbdRoot = process.env['TEST_ADBD_ROOT'] ?? '';

const reaches: Readonly<Record<string, Reach>> = {
  'direct TCP': async (_bed, phone) => ({ addresses: [phone] }),
  ...((await hasAdb()) && {
    'adb server': async (bed: PhoneTestBed, phone: SimulatedPhone) => {
      const adb = await bed.startAdb();
      await adb.connect(phone);
      return { adbServer: adb.address };
    },
  }),
  ...(adbdRoot !== '' && {
    'real adbd': async (bed: PhoneTestBed, phone: SimulatedPhone) => ({
      addresses: [await bed.startRealAdbd(phone, adbdRoot)],
    }),
  }),
};

const sources = ['uiautomator2', 'dump'] as const;
/** `npm run phone-table` runs this for every maker. */
const makers = (process.env['TEST_MAKERS'] ?? 'own').split(' ');
const matrix = makers.flatMap((maker) =>
  Object.entries(reaches).flatMap(([way, reach]) => sources.map((source) => ({ maker, way, reach, source }))),
);

const profileOf = (maker: string): { profile?: MakerName } => {
  const profile = makerNames.find((name) => name === maker);
  return profile === undefined ? {} : { profile };
};

describe.each(matrix)('$maker over $way by $source', ({ maker, reach, source }) => {
  let bed: PhoneTestBed;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    const phone = await bed.startPreparedPhone({
      serial: 'SIM1',
      uiAutomator2: source === 'uiautomator2',
      allowsGrants: true,
      ...profileOf(maker),
    });
    const watch = bed.watch(await reach(bed, phone));
    driver = (await waitForPhone(watch, ({ state }) => state.state === 'ready')).driver();
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

import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { type MakerName, makerProfiles } from '@phalanx/simulated-phone/profiles';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from '../../phones/testing/phone-test-bed.ts';
import type { WatchPhonesOptions } from '../../phones/watch-phones.ts';
import type { Driver } from '../driver.ts';
import { PhoneUse } from '../phone-use.ts';
import { appAndFileScenarios } from './app-and-file-scenarios.ts';
import { driverScenarios } from './driver-scenarios.ts';

export type Reach = (bed: PhoneTestBed, phone: SimulatedPhone) => Promise<Partial<WatchPhonesOptions>>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
const makerNames = Object.keys(makerProfiles) as MakerName[];
const sources = ['uiautomator2', 'resident', 'dump'] as const;
/** `npm run lab -- phone-table` runs this for every maker. */
const makers = (process.env['TEST_MAKERS'] ?? 'own').split(' ');
const profileOf = (maker: string): { profile?: MakerName } => {
  const profile = makerNames.find((name) => name === maker);
  return profile === undefined ? {} : { profile };
};

/** Tests the guarantees of the driver on a phone of each maker, over each of these connections. */
export function describeDriver(reaches: Readonly<Record<string, Reach>>): void {
  const matrix = makers.flatMap((maker) =>
    Object.entries(reaches).flatMap(([way, reach]) =>
      sources.map((source) => ({ maker, way, reach, source })),
    ),
  );
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
      const helper = source === 'resident' ? 'resident' : 'uiautomator2';
      const watch = bed.watch({ ...(await reach(bed, phone)), helper });
      driver = (await waitForPhone(watch, ({ state }) => state.state === 'ready'))
        .driver()
        .usedBy(new PhoneUse(new AbortController().signal));
    });
    afterAll(async () => {
      await bed.close();
    });

    const scenarios = [...driverScenarios, ...appAndFileScenarios].filter(
      ({ only }) => only?.includes(source) ?? true,
    );
    it.each(scenarios)('$behaviour', async (scenario) => {
      await expect(scenario.run(driver)).resolves.toBeUndefined();
    });
  });
}

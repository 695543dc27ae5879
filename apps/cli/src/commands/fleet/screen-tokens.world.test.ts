import { deviceRoutes, isCompactView } from '@phalanx/protocol';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

const act = (...steps: string[]) => service.run(['act', 'SIM0001', ...steps]);

/** Steps to each screen of the simulated phone's apps. */
const ways: Readonly<Record<string, readonly string[]>> = {
  home: ['key home'],
  settings: ['launch com.android.settings'],
  network: ['launch com.android.settings', 'tap Network & internet'],
  apps: ['launch com.android.settings', 'tap Apps'],
  display: ['launch com.android.settings', 'tap Display'],
  battery: ['launch com.android.settings', 'tap Battery'],
  system: ['launch com.android.settings', 'scroll_to System', 'tap System'],
  about: ['launch com.android.settings', 'scroll_to About phone', 'tap About phone'],
  form: ['launch dev.phalanx.sample.form'],
  surprise: ['launch dev.phalanx.sample.surprise'],
};

test('a screen of the simulated phone costs 350 tokens at the median', async () => {
  const [device] = (await service.api.call(deviceRoutes.list)).devices;
  const params = { id: device?.device_id ?? '' };
  const told: Record<string, number> = {};
  for (const [name, steps] of Object.entries(ways)) {
    expect((await act('key home', ...steps)).stdout).not.toContain('failed');
    const { screen } = await service.api.call(deviceRoutes.screen, { params, query: { view: 'compact' } });
    told[name] = isCompactView(screen) ? countTokens(screen.lines.join('\n')) : Infinity;
  }
  console.log(told);
  const sorted = Object.values(told).toSorted((one, other) => one - other);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(350);
}, 120_000);

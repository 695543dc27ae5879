import type { UiNode } from '@phalanx/protocol';
import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Phone } from '../phones/phone.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../phones/testing/phone-test-bed.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

const nodesOf = (node: UiNode): UiNode[] => [node, ...node.children.flatMap(nodesOf)];

async function startPhone(
  helper: 'resident' | 'uiautomator2',
): Promise<{ fold: SimulatedPhone; phone: Phone }> {
  const fold = await bed.startPreparedPhone({ serial: 'SIM1', uiAutomator2: helper === 'uiautomator2' });
  return { fold, phone: await waitForState(bed.watch({ addresses: [fold], helper }), 'SIM1', 'ready') };
}

/** Unfolds the phone. Sizes in dp stay, as on real foldable phones. */
function unfold({ android }: SimulatedPhone): void {
  android.resize({ ...android.display, width: 1768, height: 2208 });
}

describe.each(['resident', 'uiautomator2'] as const)('a phone that is unfolded, read by %s', (helper) => {
  it('has its new size, for automations and for the service', async () => {
    const { fold, phone } = await startPhone(helper);
    const driver = phone.driver();
    await driver.call('screen.content', {});
    unfold(fold);
    await driver.call('screen.content', {});
    const size = { screenWidth: 1768, screenHeight: 2208 };
    expect(await driver.call('device.info', {})).toMatchObject(size);
    expect(phone.description).toMatchObject(size);
  });

  it('hides what areas of masks cover now', async () => {
    const { fold, phone } = await startPhone(helper);
    const driver = phone.driver();
    await driver.call('app.launch', { packageName: 'com.android.settings' });
    await driver.call('screen.content', {});
    unfold(fold);
    const lowerHalf = 2208 / 2;
    const textsBelow = async (): Promise<string[]> => {
      const { root } = await driver.call('screen.content', {});
      return nodesOf(root).flatMap(({ text, boundsInScreen }) =>
        text !== null && boundsInScreen.bottom > lowerHalf ? [text] : [],
      );
    };
    const letGo = phone.masks.hold([{ area: { left: 0, top: 0.5, right: 1, bottom: 1 } }]);
    expect(await textsBelow()).toEqual([]);
    letGo();
    expect((await textsBelow()).length).toBeGreaterThan(1);
  });
});

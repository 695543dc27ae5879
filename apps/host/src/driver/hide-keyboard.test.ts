import { defineApp, sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import { until } from '../testing/until.ts';
import type { Driver } from './driver.ts';

const packageName = 'dev.phalanx.search';
const frame = { left: 0, top: 0, right: 1080, bottom: 2400 };

let focusedAgain = false;

/** A page whose field has the focus from the beginning. */
const search = defineApp({
  packageName,
  label: 'Search',
  icon: '',
  color: '#000000',
  state: () => ({}),
  activities: {
    '.First': (app) => () => ({
      className: 'android.widget.Button',
      packageName,
      frame,
      text: 'Open',
      onTap: () => app.open('.Search'),
    }),
    '.Search': (app) => (ui) => {
      const field = ui.field('query');
      const focus = (): void => ui.focus(field);
      return {
        className: 'android.widget.EditText',
        packageName,
        frame,
        text: field.text,
        field,
        focused: ui.isFocused(field),
        onTap: focus,
        // Some apps ask for the keyboard when the field has the focus, and again when their page has come to rest.
        onLongPress: () => {
          focus();
          app.after(600, () => {
            focus();
            focusedAgain = true;
          });
        },
      };
    },
  },
});

describe.each(['uiautomator2', 'resident', 'dump'] as const)('hideKeyboard by %s', (way) => {
  let bed: PhoneTestBed;
  let phone: SimulatedPhone;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    ({ phone, driver } = await bed.startDriven(way, {
      android: way === 'dump' ? 8 : 15,
      apps: [...sampleApps, search],
    }));
  });
  afterEach(() => {
    phone.faults.clear();
    Object.assign(phone.android, { keyboardDelayMs: 0, keyboardBack: 'closes' });
  });
  afterAll(async () => {
    await bed.close();
  });

  const hide = (): Promise<void> => driver.call('input.hideKeyboard', {});
  const backs = (): number =>
    phone.android.inputs.list().filter((input) => input.kind === 'key' && input.code === 4).length;
  const openPage = (): void => {
    phone.android.forceStop(packageName);
    phone.android.startActivity(packageName);
    phone.android.startActivity(packageName, '.Search');
  };
  const page = `${packageName}/${packageName}.Search`;

  it('closes a keyboard that comes after the touch that called for it', async () => {
    openPage();
    phone.android.keyboardDelayMs = 400;
    await driver.call('input.tap', { x: 500, y: 500 });
    expect(phone.android.isKeyboardShown).toBe(false);
    await hide();
    expect(phone.android.inputs.list().at(-1)).toMatchObject({ kind: 'key', code: 4 });
    expect([phone.android.isKeyboardShown, phone.android.currentActivity]).toEqual([false, page]);
  });

  it('closes a keyboard that the app shows a second time', async () => {
    openPage();
    focusedAgain = false;
    await driver.call('input.longPress', { x: 500, y: 500, durationMs: 600 });
    await hide();
    await until(
      'the app to focus its field again',
      () => focusedAgain,
      (isDone) => isDone,
    );
    expect([phone.android.isKeyboardShown, phone.android.currentActivity]).toEqual([false, page]);
  });

  it('presses nothing while no keyboard has a window, whatever the phone says', async () => {
    openPage();
    phone.faults.claimsKeyboard = true;
    const before = backs();
    await hide();
    expect([backs() - before, phone.android.currentActivity]).toEqual([0, page]);
  });

  it('says that the keyboard is still there', async () => {
    openPage();
    await driver.call('input.tap', { x: 500, y: 500 });
    phone.android.keyboardBack = 'shows-again';
    await expect(hide()).rejects.toMatchObject({ code: 'not_done' });
  });

  it('says that the app left its page', async () => {
    openPage();
    await driver.call('input.tap', { x: 500, y: 500 });
    phone.android.keyboardBack = 'leaves-page';
    await expect(hide()).rejects.toMatchObject({
      code: 'page_left',
      message: expect.stringContaining('Search'),
    });
  });
});

import type { UiNode } from '@phalanx/protocol';
import { type App, defineApp, sampleApps, type SimulatedPhone, type View } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';
import { findNode } from '../find-node.ts';
import { touchedOf } from './find-touched.ts';

const packageName = 'com.example.pages';
const chat = 'dev.phalanx.sample.form';
let pressed: string[] = [];
/** Distance by which the page has moved up. */
let moved = 0;

function part(className: string, at: readonly [top: number, height: number], more: Partial<View>): View {
  const [top, height] = at;
  const frame = { left: 100, top: top - moved, right: 980, bottom: top + height - moved };
  return { className: `android.widget.${className}`, packageName, frame, ...more };
}

/** App whose page does not make room for the keyboard, as with `adjustNothing`. */
const app: App = defineApp({
  packageName,
  label: 'Pages',
  icon: 'M0 0h24v24H0z',
  color: '#333333',
  state: () => ({}),
  activities: {
    '.Pages': (context) => (ui, area) => {
      const press = (name: string) => context.change(() => void pressed.push(name));
      const field = ui.field('name');
      const card = part('FrameLayout', [900, 200], {
        resourceId: `${packageName}:id/card`,
        children: [
          part('TextView', [920, 60], { text: 'Offer' }),
          part('View', [900, 200], { onTap: press('card') }),
        ],
      });
      const page: View = {
        className: 'android.widget.FrameLayout',
        packageName,
        frame: { ...area, bottom: 2274 },
        children: [
          part('Button', [120, 140], { text: 'Cart', onTap: press('Cart') }),
          part('EditText', [400, 120], { field, focused: ui.isFocused(field), onTap: () => ui.focus(field) }),
          part('Button', [600, 100], { text: 'Same', onTap: press('Same') }),
          part('Button', [740, 100], { text: 'Same', onTap: press('Same') }),
          card,
          part('Button', [1800, 140], { text: 'Send', onTap: press('Send') }),
          part('Button', [2240, 140], { text: 'Edge', onTap: press('Edge') }),
        ],
      };
      return page;
    },
  },
});

const withoutHelper = {
  uiAutomator2: false,
  programs: new Map([['app_process', async () => 134]]),
};
const ways = { uiautomator2: {}, resident: { uiAutomator2: false }, dump: withoutHelper };

let bed: PhoneTestBed;
beforeAll(async () => {
  bed = await createPhoneTestBed();
});
afterAll(() => bed.close());

describe.each(Object.entries(ways))('by %s, a touch of a node', (source, options) => {
  let phone: SimulatedPhone;
  let driver: Driver;
  let limited: Driver;

  beforeAll(async () => {
    const serial = `T-${source}`;
    phone = await bed.startPreparedPhone({ serial, apps: [...sampleApps, app], ...options });
    driver = (
      await waitForState(
        bed.watch({ addresses: [phone], timings: { heartbeatMs: 600_000 } }),
        serial,
        'ready',
      )
    ).driver();
    limited = driver.limitedTo({ apps: [packageName], token: 'agent' });
    expect(driver.source).toBe(source);
  });

  beforeEach(() => {
    [pressed, moved] = [[], 0];
    phone.android.headsUp.hide();
    phone.android.showSystemDialog(undefined);
    phone.android.startActivity(packageName);
    phone.android.showDialog(undefined);
  });

  async function read(fits: (node: UiNode) => boolean): Promise<UiNode> {
    const node = findNode((await driver.call('screen.content', {})).root, fits);
    if (node === undefined) throw new Error('there is no such node');
    return node;
  }
  const withText = (text: string): Promise<UiNode> => read((node) => node.text === text);
  async function tap(node: UiNode, closeKeyboard = false): Promise<void> {
    await driver.call('input.tap', { x: 1, y: 1, on: touchedOf(node), closeKeyboard });
  }
  const move = (by: number): void => {
    moved = by;
    phone.android.redraw();
  };

  it('types no letter where the keyboard lies over it, and presses it when that may be closed', async () => {
    await tap(await read(({ className }) => className === 'android.widget.EditText'));
    expect(phone.android.isKeyboardShown).toBe(true);
    const send = await withText('Send');
    await expect(tap(send)).rejects.toMatchObject({
      code: 'covered',
      message: expect.stringMatching(
        /The keyboard of com\.android\.inputmethod\.latin lies over the Button "Send"/,
      ),
    });
    await expect(limited.call('input.tap', { x: 1, y: 1, on: touchedOf(send) })).rejects.toMatchObject({
      code: 'covered',
    });
    expect(phone.android.findFieldText('name')).toBe('');
    await tap(send, true);
    expect([phone.android.isKeyboardShown, pressed]).toEqual([false, ['Send']]);
  });

  it('opens no other app where a notification lies over it', async () => {
    const cart = await withText('Cart');
    phone.android.postHeadsUp({ packageName: chat, title: 'Ann', text: 'Hello' }, 60_000);
    await expect(tap(cart)).rejects.toMatchObject({
      code: 'covered',
      message: expect.stringContaining('com.android.systemui lies over the Button "Cart"'),
    });
    const point = { x: 540, y: 190 };
    await expect(limited.call('input.tap', point)).rejects.toMatchObject({ code: 'app_not_allowed' });
    const down = { fromX: 540, fromY: 190, toX: 540, toY: 900, durationMs: 50 };
    for (const call of [
      limited.call('input.swipe', down),
      limited.call('input.drag', down),
      limited.call('input.fingers', { ways: [down], durationMs: 50 }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'app_not_allowed' });
    expect([phone.android.currentPackage, pressed]).toEqual([packageName, []]);
    // Nodes below the notification are touched as usual, although its window is as large as the display.
    await tap(await withText('Send'));
    phone.android.headsUp.hide();
    await tap(cart);
    expect(pressed).toEqual(['Send', 'Cart']);
  });

  it('tells which window it got to, where that is asked for', async () => {
    const { display } = phone.android;
    const key = { x: display.width / 2, y: display.height - 300, tellWindow: true };
    const page = { x: 540, y: 650, tellWindow: true };
    const own = { package_name: packageName, is_keyboard: false };
    expect(await driver.call('input.tap', page)).toEqual(own);
    const press = { fromX: 540, fromY: 650, toX: 540, toY: 650, durationMs: 10, tellWindow: true };
    expect(await driver.call('input.swipe', press)).toEqual(own);
    await tap(await read(({ className }) => className === 'android.widget.EditText'));
    expect(await driver.call('input.tap', key)).toMatchObject({ is_keyboard: true });
    phone.android.stack.top.fields.get('name')?.setText('');
    expect(await driver.call('input.tap', { ...page, tellWindow: false })).toBeNull();
    phone.android.postHeadsUp({ packageName: chat, title: 'Ann', text: 'Hello' }, 60_000);
    expect(await driver.call('input.tap', { x: 540, y: 190, tellWindow: true })).toEqual({
      package_name: 'com.android.systemui',
      is_keyboard: false,
    });
  });

  it('gets to a point, whatever is there, for whoever may use all apps', async () => {
    phone.android.postHeadsUp({ packageName: chat, title: 'Ann', text: 'Hello' }, 60_000);
    await driver.call('input.tap', { x: 540, y: 190 });
    expect(phone.android.currentPackage).toBe(chat);
  });

  it('presses nothing behind a dialog', async () => {
    const cart = await withText('Cart');
    phone.android.showDialog({
      title: 'Sure?',
      message: 'Really',
      buttons: [{ label: 'OK' }],
      cancelable: false,
    });
    await expect(tap(cart)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:covered|gone)$/) });
    phone.android.showDialog(undefined);
    phone.android.showSystemDialog({
      title: 'Pages keeps stopping',
      packageName,
      options: [{ id: 'android:id/aerr_close', label: 'Close', onTap: () => {} }],
    });
    await expect(tap(cart)).rejects.toMatchObject({ code: 'covered' });
    expect(pressed).toEqual([]);
  });

  it('leaves the bars of the system alone', async () => {
    await tap(await withText('Edge'));
    expect(pressed).toEqual(['Edge']);
    const { width, height } = phone.android.display;
    await expect(limited.call('input.tap', { x: width / 2, y: height - 20 })).rejects.toMatchObject({
      code: 'app_not_allowed',
    });
    const fromTop = { fromX: 540, fromY: 5, toX: 540, toY: 1500, durationMs: 50 };
    await expect(limited.call('input.swipe', fromTop)).rejects.toMatchObject({ code: 'app_not_allowed' });
    expect(phone.android.overlay).toBeUndefined();
  });

  it('gets to the layer of a card for its text', async () => {
    await tap(await withText('Offer'));
    expect(pressed).toEqual(['card']);
  });

  it('tells where a touch gets to, and what is free of it', async () => {
    await tap(await read(({ className }) => className === 'android.widget.EditText'));
    const page = await read((node) => node.packageName === packageName);
    const keyboardTop = phone.android.screen.windows.find(({ title }) => title === 'InputMethod')?.root.frame
      .top;
    expect(await driver.call('screen.reach', { on: touchedOf(page) })).toMatchObject({
      state: 'free',
      area: { bottom: keyboardTop },
    });
    expect(await driver.call('screen.reach', { on: touchedOf(await withText('Send')) })).toMatchObject({
      state: 'covered',
    });
    expect(pressed).toEqual([]);
  });

  // Skips `dump`, which uses a reading from the last seconds as the present screen.
  it.skipIf(source === 'dump')(
    'follows a node that has moved, and takes none of its equals for it',
    async () => {
      const [send, same] = [await withText('Send'), await withText('Same')];
      move(60);
      await tap(send);
      expect(pressed).toEqual(['Send']);
      move(140);
      // The second button is where the first one was, and has the same text.
      await tap(same);
      move(30);
      await expect(tap(same)).rejects.toMatchObject({ code: 'gone' });
      expect(pressed).toEqual(['Send', 'Same']);
    },
  );

  it.skipIf(source === 'dump')('gets to a key of the keyboard', async () => {
    await tap(await read(({ className }) => className === 'android.widget.EditText'));
    const windows = await driver.call('screen.windows', {});
    const keyboard = windows.find(({ isKeyboard }) => isKeyboard)?.root;
    const key = keyboard && findNode(keyboard, ({ description }) => description === 'q');
    if (key !== undefined) await tap(key);
    expect(phone.android.findFieldText('name')).toBe('q');
  });
});

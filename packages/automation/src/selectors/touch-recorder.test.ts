import type { PhoneInput, TouchedWindow, UiNode } from '@phalanx/protocol';
import { describe, expect, it, vi } from 'vitest';

import { screenOf, uiNode } from '../agent/testing/screens.ts';
import { TouchRecorder } from './touch-recorder.ts';

type Part = Partial<UiNode>;
const box = (left: number, top: number, right: number, bottom: number): Part => ({
  boundsInScreen: { left, top, right, bottom },
});
const screen = (children: UiNode[], part: Part = {}): AndroidNode =>
  screenOf(uiNode({ className: 'android.widget.FrameLayout', ...box(0, 0, 1080, 2400), ...part, children }));
const label = (text: string, top: number): UiNode => uiNode({ text, ...box(40, top, 600, top + 60) });
const toggle = (isOn: boolean, top: number): UiNode =>
  uiNode({
    className: 'android.widget.Switch',
    text: isOn ? 'On' : 'Off',
    checkable: true,
    checked: isOn,
    clickable: true,
    ...box(900, top, 1040, top + 60),
  });
const field = (part: Part = {}): UiNode =>
  uiNode({
    className: 'android.widget.EditText',
    viewId: 'com.example:id/name',
    ...box(40, 100, 1040, 200),
    ...part,
  });
const tap = (x: number, y: number): PhoneInput => ({ type: 'tap', x, y });
const up: PhoneInput = { type: 'swipe', from_x: 500, from_y: 1800, to_x: 500, to_y: 600, duration_ms: 300 };

/** Returns the code of touches, each of which leads from one screen to the next. */
function record(screens: readonly AndroidNode[], inputs: readonly PhoneInput[]): string[] {
  const recorder = new TouchRecorder();
  const lines = inputs.flatMap((input, index) => {
    const before = screens[index] ?? screens.at(-1);
    const after = screens[index + 1] ?? before;
    if (before === undefined || after === undefined) throw new Error('There is no such screen.');
    return recorder.write({ input, before, after });
  });
  return [...lines, ...recorder.end()];
}

describe('a recorded touch', () => {
  it('waits for its node, and then for what is new on the screen', () => {
    const code = record(
      [
        screen([label('About phone', 100)]),
        screen([label('About phone', 0), label('12:30', 100), label('Model', 200)]),
      ],
      [tap(50, 120)],
    );
    expect(code).toEqual([
      "await (await agent.actions.waitForText('About phone')).tap();",
      "await agent.actions.waitForText('Model');",
    ]);
  });

  it('of a password writes the name of a secret, whatever parts it is typed in', () => {
    const form = screen([field({ viewId: 'com.example:id/loginPassword', password: true, focused: true })]);
    const recorder = new TouchRecorder();
    const write = (input: PhoneInput): string[] => recorder.write({ input, before: form, after: form });
    const typed = (text: string): string[] => write({ type: 'text', text });
    expect(write(tap(50, 120))).toEqual([]);
    expect([...typed('Sec'), ...typed('ret123')]).toEqual([
      "await (await agent.actions.waitForId('loginPassword')).tap();",
      "await agent.secrets.type('LOGIN_PASSWORD');",
    ]);
    expect([...recorder.secrets]).toEqual([['LOGIN_PASSWORD', 'Secret123']]);
    expect([...write({ type: 'key', key_code: 67 }), ...typed('4')]).toEqual([]);
    expect([...recorder.secrets.values()]).toEqual(['Secret124']);
    write(tap(50, 120));
    expect(typed('again').at(-1)).toBe("await agent.secrets.type('LOGIN_PASSWORD');");
    expect([...recorder.secrets.values()]).toEqual(['again']);
  });

  it.each([
    [{ viewId: 'com.example:id/2fa_pin-code' }, 'FA_PIN_CODE'],
    [{ viewId: null, hintText: 'Your password' }, 'YOUR_PASSWORD'],
    [{ viewId: null, description: 'Пароль' }, 'PASSWORD'],
    [{ viewId: `x:id/${'a'.repeat(80)}` }, 'A'.repeat(64)],
  ])('of a password in %j has the secret %s', (part, name) => {
    const form = screen([field({ ...part, password: true, focused: true })]);
    const recorder = new TouchRecorder();
    recorder.write({ input: { type: 'text', text: 'x' }, before: form, after: form });
    expect([...recorder.secrets.keys()]).toEqual([name]);
  });

  it('in another window touches the point, and no node behind it', () => {
    const page = screen([label('Send', 100)]);
    const touched = (window: TouchedWindow | null): string[] =>
      new TouchRecorder().write({ input: tap(50, 120), window, before: page, after: page });
    const packageName = page.packageName;
    expect(touched({ package_name: 'com.keys', is_keyboard: true })).toEqual([
      'await agent.actions.tap(50, 120); // a key of the keyboard; writeText types a text on any phone',
    ]);
    expect(touched({ package_name: 'com.android.systemui', is_keyboard: false })).toEqual([
      'await agent.actions.tap(50, 120); // a window of com.android.systemui',
    ]);
    for (const window of [{ package_name: packageName, is_keyboard: false }, null])
      expect(touched(window)).toEqual(["await (await agent.actions.waitForText('Send')).tap();"]);
    const press: PhoneInput = { ...up, from_x: 50, from_y: 120, to_x: 50, to_y: 120, duration_ms: 800 };
    const window = { package_name: '', is_keyboard: false };
    expect(new TouchRecorder().write({ input: press, window, before: page, after: page })).toEqual([
      'await agent.actions.longPress(50, 120, 800); // another window than that of the app in front',
    ]);
  });

  it('of a switch names its label, and checks what it has become', () => {
    const at = (isOn: boolean): AndroidNode =>
      screen([label('Bluetooth', 100), toggle(isOn, 100), label('Wi-Fi', 200), toggle(true, 200)]);
    const conditions = "(f) => f.isSwitch().rightOf((g) => g.hasText('Bluetooth'))";
    expect(record([at(false), at(true)], [tap(950, 120)])).toEqual([
      `await (await agent.actions.waitForNode(${conditions})).tap();`,
      `await agent.actions.waitFor((screen) => screen.filterOne(${conditions})?.isChecked === true, { description: 'the switch to be on' });`,
    ]);
  });

  it('after swipes scrolls to its node, however far that is on another phone', () => {
    const code = record(
      [screen([label('First', 100)]), screen([label('Last', 100)]), screen([label('Last', 100)])],
      [up, tap(50, 120)],
    );
    expect(code).toEqual(["await (await agent.actions.scrollTo('Last')).tap();"]);
    const back = { ...up, from_y: 600, to_y: 1800 };
    const screens = [screen([label('Last', 100)]), screen([label('First', 100)])];
    expect(record(screens, [back, tap(50, 120)])).toEqual([
      "await (await agent.actions.scrollTo('First', { direction: 'up' })).tap();",
    ]);
  });

  it('of a field becomes what is typed into it', () => {
    const [empty, typed] = [screen([field()]), screen([field({ text: "O'Neill", focused: true })])];
    const text: PhoneInput = { type: 'text', text: "O'Neill" };
    expect(record([empty, empty, typed], [tap(50, 120), text])).toEqual([
      String.raw`await (await agent.actions.waitForId('name')).writeText('O\'Neill');`,
    ]);
    expect(record([empty, empty], [tap(50, 120)])).toEqual([
      "await (await agent.actions.waitForId('name')).tap();",
    ]);
    expect(record([empty, empty], [tap(50, 120), { type: 'key', key_code: 4 }])).toEqual([
      "await (await agent.actions.waitForId('name')).tap();",
      'await agent.actions.back();',
    ]);
  });

  it('of an icon of the launcher starts the app, and a long press is one', () => {
    const home = screen([label('Settings', 100)], { packageName: 'com.maker.launcher' });
    const settings = screen([label('Network', 100)], { packageName: 'com.android.settings' });
    expect(record([home, settings], [tap(50, 120)])).toEqual([
      "await agent.actions.launchApp('com.android.settings');",
      "await agent.actions.waitForText('Network');",
    ]);
    const held = { ...up, to_y: 1800, duration_ms: 900 };
    const shown = screen([uiNode({ text: 'Message', ...box(0, 1700, 1080, 1900) })]);
    expect(record([shown], [held])).toEqual([
      "await (await agent.actions.waitForText('Message')).longPress();",
    ]);
  });

  it('of what nothing distinguishes keeps its place, and keys have their names', () => {
    const inputs: PhoneInput[] = [
      tap(700, 900),
      { type: 'key', key_code: 66 },
      { type: 'key', key_code: 24 },
    ];
    expect(record([screen([])], inputs)).toEqual([
      'await agent.actions.tap(700, 900);',
      'await agent.actions.performEditorAction();',
      'await agent.actions.inputKey(24);',
    ]);
  });

  it('searches a screen of thousands of new labels a few times only', () => {
    // Each text is part of another one, so that none is unique.
    const many = Array.from({ length: 3000 }, (_, index) => label(`Item ${index % 50}`, index));
    const before = screen([]);
    const searches = vi.spyOn(before, 'findTextOne');
    new TouchRecorder().write({ input: { type: 'key', key_code: 24 }, before, after: screen(many) });
    expect(searches.mock.calls.length).toBeLessThanOrEqual(10);
  });
});

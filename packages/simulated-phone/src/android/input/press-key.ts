import { findActiveTree } from '../../screen/screen.ts';
import { walk } from '../../view/view.ts';
import { rectHeight } from '../../view/rect.ts';
import type { Android } from '../android.ts';
import { pressBack, pressEnter } from './system-keys.ts';

const code = {
  home: 3,
  back: 4,
  left: 21,
  right: 22,
  power: 26,
  tab: 61,
  enter: 66,
  del: 67,
  menu: 82,
  notification: 83,
  pageUp: 92,
  pageDown: 93,
  escape: 111,
  forwardDel: 112,
  moveHome: 122,
  moveEnd: 123,
  numpadEnter: 160,
  appSwitch: 187,
  sleep: 223,
  wakeup: 224,
  paste: 279,
} as const;

const systemKeys: ReadonlyMap<number, (android: Android) => void> = new Map([
  [code.power, (android) => android.setScreenOn(!android.isScreenOn)],
  [code.sleep, (android) => android.setScreenOn(false)],
  [code.wakeup, (android) => android.setScreenOn(true)],
]);

/** Keys that work while the screen is on and unlocked. */
const keys: ReadonlyMap<number, (android: Android) => void> = new Map([
  [code.home, (android) => android.goHome()],
  [code.back, pressBack],
  [code.escape, pressBack],
  [code.left, (android) => android.focusedField?.moveCaret(-1)],
  [code.right, (android) => android.focusedField?.moveCaret(1)],
  [code.tab, focusNext],
  [code.enter, pressEnter],
  [code.numpadEnter, pressEnter],
  [code.del, (android) => android.focusedField?.deleteBefore()],
  [code.forwardDel, (android) => android.focusedField?.deleteAfter()],
  [code.moveHome, (android) => android.focusedField?.moveCaret(Number.NEGATIVE_INFINITY)],
  [code.moveEnd, (android) => android.focusedField?.moveCaret(Number.POSITIVE_INFINITY)],
  [code.paste, (android) => android.focusedField?.insert(android.clipboard)],
  [code.notification, (android) => android.setOverlay('shade')],
  [code.pageUp, (android) => scrollBy(android, -0.8)],
  [code.pageDown, (android) => scrollBy(android, 0.8)],
  [code.appSwitch, (android) => android.setOverlay(android.overlay === 'recents' ? undefined : 'recents')],
]);

function focusNext(android: Android): void {
  const fields = [...android.stack.top.fields.values()];
  const current = android.focusedField;
  const next = fields[(current ? fields.indexOf(current) + 1 : 0) % Math.max(fields.length, 1)];
  if (next) android.focus(next);
}

function pressAtLock(android: Android, keyCode: number, character: string | undefined): void {
  if (keyCode === code.menu) android.lockScreen.dismiss();
  else if (keyCode === code.enter || keyCode === code.numpadEnter) android.lockScreen.confirm();
  else if (character !== undefined) android.lockScreen.type(character);
}

/** Presses a key by its Android code; unknown ones do nothing, as on a phone. */
export function pressKey(android: Android, keyCode: number, shift = false): void {
  android.inputs.add({ kind: 'key', code: keyCode });
  const systemKey = systemKeys.get(keyCode);
  if (systemKey) return systemKey(android);
  if (!android.isScreenOn) return;
  const character = findTypedCharacter(keyCode, shift);
  if (android.isLocked) return pressAtLock(android, keyCode, character);
  if (character !== undefined) android.focusedField?.insert(character);
  keys.get(keyCode)?.(android);
  android.redraw();
}

/** Types into the focused field. Without one the text is lost, as on a phone. */
export function typeText(android: Android, text: string): void {
  android.inputs.add({ kind: 'text', text });
  if (!android.isScreenOn) return;
  if (android.isLocked) return android.lockScreen.type(text);
  // Key by key, because an app may move the focus in between.
  for (const character of text) android.focusedField?.insert(character);
  android.redraw();
}

/** Scrolls the first list of the screen by a fraction of its height; a negative one scrolls up. */
function scrollBy(android: Android, share: number): void {
  const tree = findActiveTree(android.screen);
  const list = tree && walk(tree).find(({ view }) => view.scroll !== undefined);
  if (!list?.view.scroll) return;
  const { scroll } = list.view;
  const move = Math.round(rectHeight(list.bounds) * share);
  scroll.offset = Math.min(Math.max(scroll.offset + move, 0), scroll.max);
  android.redraw();
}

const range = (first: string, count: number, keyCode: number): [string, number][] =>
  Array.from({ length: count }, (_, index) => [
    String.fromCharCode(first.charCodeAt(0) + index),
    keyCode + index,
  ]);

/** Codes of supported keys, by Android's names without `KEYCODE_`. */
const keyCodes: ReadonlyMap<string, number> = new Map([
  ['HOME', 3],
  ['BACK', 4],
  ...range('0', 10, 7),
  ['DPAD_UP', 19],
  ['DPAD_DOWN', 20],
  ['DPAD_LEFT', 21],
  ['DPAD_RIGHT', 22],
  ['DPAD_CENTER', 23],
  ['VOLUME_UP', 24],
  ['VOLUME_DOWN', 25],
  ['POWER', 26],
  ...range('A', 26, 29),
  ['COMMA', 55],
  ['PERIOD', 56],
  ['TAB', 61],
  ['SPACE', 62],
  ['ENTER', 66],
  ['DEL', 67],
  ['MINUS', 69],
  ['EQUALS', 70],
  ['SLASH', 76],
  ['AT', 77],
  ['MENU', 82],
  ['NOTIFICATION', 83],
  ['PAGE_UP', 92],
  ['PAGE_DOWN', 93],
  ['ESCAPE', 111],
  ['FORWARD_DEL', 112],
  ['MOVE_HOME', 122],
  ['MOVE_END', 123],
  ['NUMPAD_ENTER', 160],
  ['APP_SWITCH', 187],
  ['SLEEP', 223],
  ['WAKEUP', 224],
]);

const punctuation = new Map([
  [55, ','],
  [56, '.'],
  [62, ' '],
  [69, '-'],
  [70, '='],
  [76, '/'],
  [77, '@'],
]);

/** Returns the code of `66`, `ENTER` or `KEYCODE_ENTER`; 0 (KEYCODE_UNKNOWN) for anything else. */
export function keyCodeOf(name: string): number {
  if (/^\d{1,3}$/.test(name)) return Number(name);
  return keyCodes.get(name.toUpperCase().replace(/^KEYCODE_/, '')) ?? 0;
}

/** Returns the character that a key types, if any. */
function findTypedCharacter(keyCode: number, shift: boolean): string | undefined {
  if (keyCode >= 7 && keyCode <= 16) return String(keyCode - 7);
  if (keyCode >= 29 && keyCode <= 54) return String.fromCharCode(keyCode - 29 + (shift ? 65 : 97));
  return punctuation.get(keyCode);
}

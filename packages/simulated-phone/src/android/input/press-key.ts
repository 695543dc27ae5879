import { findActiveTree } from '../../screen/screen.ts';
import { walk } from '../../view/find-view.ts';
import { rectHeight } from '../../view/rect.ts';
import type { Android } from '../android.ts';
import { findTypedCharacter } from './key-codes.ts';
import { pressBack } from './press-back.ts';
import { pressEnter } from './press-enter.ts';

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

/** Types into the focused field; without one the text is lost, as on a phone. */
export function typeText(android: Android, text: string): void {
  android.inputs.add({ kind: 'text', text });
  if (!android.isScreenOn) return;
  if (android.isLocked) return android.lockScreen.type(text);
  android.focusedField?.insert(text);
  android.redraw();
}

/** Scrolls the first list of the screen by a share of its height; negative is upwards. */
function scrollBy(android: Android, share: number): void {
  const tree = findActiveTree(android.screen);
  const list = tree && walk(tree).find(({ view }) => view.scroll !== undefined);
  if (!list?.view.scroll) return;
  const { scroll } = list.view;
  const move = Math.round(rectHeight(list.bounds) * share);
  scroll.offset = Math.min(Math.max(scroll.offset + move, 0), scroll.max);
  android.redraw();
}

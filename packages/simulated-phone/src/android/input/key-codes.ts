const range = (first: string, count: number, code: number): [string, number][] =>
  Array.from({ length: count }, (_, index) => [
    String.fromCharCode(first.charCodeAt(0) + index),
    code + index,
  ]);

/** The key codes that this phone acts on, by Android's names without `KEYCODE_`. */
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

/** The code of `66`, `ENTER` or `KEYCODE_ENTER`; 0 (KEYCODE_UNKNOWN) for anything else. */
export function keyCodeOf(name: string): number {
  if (/^\d{1,3}$/.test(name)) return Number(name);
  return keyCodes.get(name.toUpperCase().replace(/^KEYCODE_/, '')) ?? 0;
}

/** What a key types, if it types anything. */
export function findTypedCharacter(code: number, shift: boolean): string | undefined {
  if (code >= 7 && code <= 16) return String(code - 7);
  if (code >= 29 && code <= 54) return String.fromCharCode(code - 29 + (shift ? 65 : 97));
  return punctuation.get(code);
}

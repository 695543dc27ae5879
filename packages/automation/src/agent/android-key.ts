/** Android's key codes by name, as in android.view.KeyEvent without `KEYCODE_`. */
const keyCodes: Record<AndroidKey, number> = {
  HOME: 3,
  BACK: 4,
  DPAD_UP: 19,
  DPAD_DOWN: 20,
  DPAD_LEFT: 21,
  DPAD_RIGHT: 22,
  DPAD_CENTER: 23,
  VOLUME_UP: 24,
  VOLUME_DOWN: 25,
  POWER: 26,
  CAMERA: 27,
  TAB: 61,
  SPACE: 62,
  ENTER: 66,
  DEL: 67,
  MENU: 82,
  SEARCH: 84,
  MEDIA_PLAY_PAUSE: 85,
  PAGE_UP: 92,
  PAGE_DOWN: 93,
  ESCAPE: 111,
  FORWARD_DEL: 112,
  MOVE_HOME: 122,
  MOVE_END: 123,
  APP_SWITCH: 187,
  SLEEP: 223,
  WAKEUP: 224,
  CUT: 277,
  COPY: 278,
  PASTE: 279,
};

/** The code of a key. Throws a TypeError for a name that is not in the table. */
export function keyCodeOf(key: number | string): number {
  if (typeof key === 'number') return key;
  const name = String(key)
    .toUpperCase()
    .replace(/^KEYCODE_/, '');
  const codes: Record<string, number | undefined> = keyCodes;
  const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
  if (code === undefined)
    throw new TypeError(
      `There is no key ${name}. Use Android's key code as a number, or one of: ${Object.keys(codes).join(', ')}.`,
    );
  return code;
}

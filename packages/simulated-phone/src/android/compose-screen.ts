import { systemDialogWindow, keyguardWindow } from './system-ui/system-dialog.ts';
import { keyboardHeightDp, keyboardWindow } from './system-ui/keyboard.ts';
import { headsUpWindow, recentsWindow, shadeWindow } from './system-ui/overlays.ts';
import { dialogPanel } from '../widgets/dialog.ts';
import { palette } from '../view/palette.ts';
import { TextField } from '../view/text-field.ts';
import type { Window, View, Area, Ui } from '../view/view.ts';
import type { Screen } from '../screen/screen.ts';
import { type Activity, componentName } from './activity-stack.ts';
import { navigationBarHeightDp, statusBarHeightDp, toPixels } from './display/display.ts';
import type { SystemHost } from './system-host.ts';
import { pressBack } from './input/system-keys.ts';
import { icons } from '../widgets/icons.ts';

function getOrMake<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}

/** Returns the tools for building the widgets of an activity, or of the system without one. */
function uiFor(android: SystemHost, packageName: string, activity: Activity): Ui {
  return {
    packageName,
    dp: (value) => toPixels(android.display, value),
    field: (name, options) => getOrMake(activity.fields, name, () => new TextField(options)),
    scroll: (name) => getOrMake(activity.scrolls, name, () => ({ offset: 0, max: 0 })),
    isFocused: (field) => android.focusedField === field,
    focus: (field) => android.focus(field),
  };
}

/** Returns the part of the display available to apps. */
function appArea(android: SystemHost): Area {
  const { width, height } = android.display;
  const below = navigationBarHeightDp + (android.isKeyboardShown ? keyboardHeightDp : 0);
  return {
    left: 0,
    right: width,
    top: toPixels(android.display, statusBarHeightDp),
    bottom: height - toPixels(android.display, below),
  };
}

function activityWindow(android: SystemHost, activity: Activity): Window {
  const { width, height } = android.display;
  const ui = uiFor(android, activity.packageName, activity);
  const task = android.stack.front;
  const body = task.running.body(activity.className)(ui, appArea(android));
  const frame = { left: 0, top: 0, right: width, bottom: height };
  const { packageName } = activity;
  const content = {
    className: 'android.widget.FrameLayout',
    packageName,
    resourceId: 'android:id/content',
    frame,
    children: [body],
  };
  const decor = { className: 'android.widget.LinearLayout', packageName, frame, children: [content] };
  return {
    title: componentName(activity),
    focusable: true,
    root: {
      className: 'android.widget.FrameLayout',
      packageName,
      frame,
      paint: (canvas) => canvas.rect(frame, palette.surface),
      children: [decor],
    },
  };
}

function dialogWindow(android: SystemHost, activity: Activity): Window | undefined {
  const { dialog } = activity;
  if (!dialog) return undefined;
  const close = () => {
    activity.dialog = undefined;
    android.redraw();
  };
  const ui = uiFor(android, activity.packageName, activity);
  const isCancelable = dialog.cancelable ?? true;
  return {
    title: componentName(activity),
    focusable: true,
    modal: true,
    onTapOutside: isCancelable ? close : undefined,
    root: dialogPanel(dialog, close)(ui, appArea(android)),
  };
}

function overlayWindow(android: SystemHost, ui: Ui): Window | undefined {
  if (android.overlay === 'shade') return shadeWindow(android, ui);
  if (android.overlay === 'recents') return recentsWindow(android, ui);
  return undefined;
}

/** Builds all windows from the state of the phone, back to front. */
export function composeScreen(android: SystemHost): Screen {
  const { width, height } = android.display;
  const { rotation } = android;
  if (!android.isScreenOn) return { width, height, rotation, windows: [] };
  const activity = android.stack.top;
  const ui = uiFor(android, 'com.android.systemui', activity);
  if (android.isLocked) return { width, height, rotation, windows: [keyguardWindow(android, ui)] };
  const isFullScreen = android.fullScreenApps.includes(activity.packageName);
  const windows = [
    activityWindow(android, activity),
    dialogWindow(android, activity),
    android.isKeyboardShown ? keyboardWindow(android, ui) : undefined,
    overlayWindow(android, ui),
    android.systemDialog && systemDialogWindow(android, ui, android.systemDialog),
    ...(isFullScreen ? [] : [statusBarWindow(android, ui), navigationBarWindow(android, ui)]),
    android.headsUp.shown && headsUpWindow(android, ui, android.headsUp.shown),
  ];
  return { width, height, rotation, windows: windows.filter((window) => window !== undefined) };
}

type Shape = 'back' | 'home' | 'recents';

function navigationButton(
  android: SystemHost,
  ui: Ui,
  options: { index: number; shape: Shape; onTap: () => void },
): View {
  const { width, height } = android.display;
  const buttonWidth = Math.floor(width / 3);
  const left = buttonWidth * options.index;
  const frame = {
    left,
    right: left + buttonWidth,
    top: height - ui.dp(navigationBarHeightDp),
    bottom: height,
  };
  const x = left + buttonWidth / 2;
  const y = (frame.top + frame.bottom) / 2;
  const half = ui.dp(8);
  return {
    className: 'android.widget.ImageView',
    packageName: ui.packageName,
    resourceId: `com.android.systemui:id/${options.shape === 'recents' ? 'recent_apps' : options.shape}`,
    frame,
    onTap: options.onTap,
    paint: (canvas) => {
      const color = palette.secondaryText;
      if (options.shape === 'home') canvas.circle(x, y, { radius: half, fill: color });
      else if (options.shape === 'recents') {
        const square = { left: x - half, right: x + half, top: y - half, bottom: y + half };
        canvas.outline(square, color, { width: ui.dp(2), radius: ui.dp(2) });
      } else
        canvas.icon('M17 4v16L5 12z', { left: x - half * 1.4, top: y - half * 1.4, size: half * 2.8 }, color);
    },
  };
}

/** Builds the three-button navigation bar, drawn above apps but never dumped. */
function navigationBarWindow(android: SystemHost, ui: Ui): Window {
  const { width, height } = android.display;
  const frame = { left: 0, right: width, top: height - ui.dp(navigationBarHeightDp), bottom: height };
  const toggleRecents = () => android.setOverlay(android.overlay === 'recents' ? undefined : 'recents');
  return {
    title: 'NavigationBar0',
    focusable: false,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: ui.packageName,
      frame,
      paint: (canvas) => canvas.rect(frame, palette.surface),
      children: [
        navigationButton(android, ui, { index: 0, shape: 'back', onTap: () => pressBack(android) }),
        navigationButton(android, ui, { index: 1, shape: 'home', onTap: () => android.goHome() }),
        navigationButton(android, ui, { index: 2, shape: 'recents', onTap: toggleRecents }),
      ],
    },
  };
}

/** Builds the status bar with clock and signal icons, drawn above apps but never dumped. */
function statusBarWindow(android: SystemHost, ui: Ui): Window {
  const { width } = android.display;
  const height = ui.dp(statusBarHeightDp);
  const size = ui.dp(16);
  const color = android.overlay === 'shade' ? palette.onPrimary : palette.onSurface;
  return {
    title: 'StatusBar',
    focusable: false,
    root: {
      className: 'android.widget.FrameLayout',
      packageName: 'com.android.systemui',
      frame: { left: 0, top: 0, right: width, bottom: height },
      paint: (canvas) => {
        const baseline = height / 2 + ui.dp(14) * 0.4;
        canvas.text(
          android.clock(),
          { x: ui.dp(24), baseline },
          { size: ui.dp(14), weight: 'medium', color },
        );
        const top = (height - size) / 2 + ui.dp(1);
        canvas.icon(icons.battery, { left: width - ui.dp(24) - size, top, size }, color);
        canvas.icon(icons.wifi, { left: width - ui.dp(48) - size, top, size }, color);
      },
    },
  };
}

/** Cached screen. The object stays the same until something changes. */
export class ShownScreen {
  readonly #compose: () => Screen;
  /** Returns a text that changes whenever the screen changes by itself, such as its clock. */
  readonly #look: () => string;
  #screen: Screen | undefined;
  #composedLook = '';
  #isFrozen = false;
  readonly #listeners = new Set<() => void>();

  constructor(compose: () => Screen, look: () => string) {
    this.#compose = compose;
    this.#look = look;
  }

  get current(): Screen {
    if (this.#isFrozen && this.#screen) return this.#screen;
    const look = this.#look();
    if (!this.#screen || look !== this.#composedLook) this.#screen = this.#compose();
    this.#composedLook = look;
    return this.#screen;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Freezes or unfreezes the current screen, regardless of later changes. */
  freeze(isFrozen: boolean): void {
    if (isFrozen) void this.current;
    this.#isFrozen = isFrozen;
    this.redraw();
  }

  redraw(): void {
    if (this.#isFrozen) return;
    this.#screen = undefined;
    for (const listener of this.#listeners) listener();
  }

  /** Subscribes to redraws. Returns the unsubscribe function. */
  onRedraw(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

import { systemDialogWindow, keyguardWindow } from './system-ui/system-dialog.ts';
import { keyboardHeightDp, keyboardWindow } from './system-ui/keyboard.ts';
import { navigationBarWindow, statusBarWindow } from './system-ui/navigation-bar.ts';
import { recentsWindow } from './system-ui/recents.ts';
import { shadeWindow } from './system-ui/shade.ts';
import { dialogPanel } from '../widgets/dialog.ts';
import { palette } from '../view/palette.ts';
import { TextField } from '../view/text-field.ts';
import type { Window } from '../view/view.ts';
import type { Area, Ui } from '../view/widget.ts';
import type { Screen } from '../screen/screen.ts';
import { type Activity, componentName } from './activity-stack.ts';
import { navigationBarHeightDp, statusBarHeightDp, toPixels } from './display/display.ts';
import type { SystemHost } from './system-host.ts';

function getOrMake<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}

/** What widgets of an activity, or of the system when there is none, build with. */
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

/** The part of the display that is left to apps. */
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

/** Builds all windows from the state of the phone, from the back to the front. */
export function composeScreen(android: SystemHost): Screen {
  const { width, height } = android.display;
  const { rotation } = android;
  if (!android.isScreenOn) return { width, height, rotation, windows: [] };
  const activity = android.stack.top;
  const ui = uiFor(android, 'com.android.systemui', activity);
  if (android.isLocked) return { width, height, rotation, windows: [keyguardWindow(android, ui)] };
  const windows = [
    activityWindow(android, activity),
    dialogWindow(android, activity),
    android.isKeyboardShown ? keyboardWindow(android, ui) : undefined,
    overlayWindow(android, ui),
    android.systemDialog && systemDialogWindow(android, ui, android.systemDialog),
    statusBarWindow(android, ui),
    navigationBarWindow(android, ui),
  ];
  return { width, height, rotation, windows: windows.filter((window) => window !== undefined) };
}

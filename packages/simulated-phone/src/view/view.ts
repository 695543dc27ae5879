import type { Canvas } from './canvas.ts';
import type { Rect } from './rect.ts';
import type { TextField } from './text-field.ts';

/** How far a list is scrolled; lives as long as its activity, while views are built anew. */
export interface ScrollState {
  offset: number;
  /** The largest offset, known after the list was laid out. */
  max: number;
}

/** One node of the screen: accessibility attributes, place, look and what touching it does. */
export interface View {
  readonly className: string;
  readonly packageName: string;
  /** Where it would be without clipping by its ancestors. */
  readonly frame: Rect;
  /** Full name, such as `android:id/title`. */
  readonly resourceId?: string | undefined;
  readonly text?: string | undefined;
  readonly description?: string | undefined;
  readonly hint?: string | undefined;
  readonly checkable?: boolean | undefined;
  readonly checked?: boolean | undefined;
  /** Default: true. */
  readonly enabled?: boolean | undefined;
  readonly focused?: boolean | undefined;
  readonly selected?: boolean | undefined;
  readonly password?: boolean | undefined;
  /** Children outside the frame are neither drawn, dumped nor touched. */
  readonly clips?: boolean | undefined;
  readonly children?: readonly View[] | undefined;
  readonly paint?: ((canvas: Canvas) => void) | undefined;
  readonly onTap?: (() => void) | undefined;
  readonly onDoubleTap?: (() => void) | undefined;
  readonly onLongPress?: (() => void) | undefined;
  readonly scroll?: ScrollState | undefined;
  readonly field?: TextField | undefined;
}

/** One window of the screen, as the window manager stacks them. */
export interface Window {
  /** As `dumpsys window` names it: `package/class` for an activity, a word for a system window. */
  readonly title: string;
  readonly root: View;
  /** The topmost focusable window is the one that is dumped and gets keys. */
  readonly focusable: boolean;
  /** Takes every touch, also outside its frame. */
  readonly modal?: boolean | undefined;
  readonly onTapOutside?: (() => void) | undefined;
}

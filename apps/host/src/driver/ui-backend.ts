import type { AgentCallParams, UiNode } from '@phalanx/protocol';
import type { FrameSource } from './frames/frame-source.ts';
import type { Point } from './touch/rectangles.ts';
import type { TouchWindow } from './touch/touch-look.ts';
import type { ParsedTree } from './tree/parse-tree.ts';
import type { PasswordMemory } from './typed-password.ts';

/** The active window as the phone has told it. */
export interface ToldScreen {
  /** Digest of all that was told. */
  readonly digest: string;
  /** Another object at each call, which the caller may change. Throws DriverError on what no phone tells. */
  tree(): ParsedTree;
}

/** Notifier of phones that tell of changes of their screens. */
export interface ChangeNotifier {
  /** Number of changes that were told. */
  readonly count: number;
  /** Has the phone tell changes from now on; true when it did not before. */
  watch(signal: AbortSignal): Promise<boolean>;
  /** Has the phone look at its screen each second by itself, and tell when it is not `lookedAt`. Returns how to end that. */
  look(): () => void;
  /** The active window that the phone has told last, whoever asked; undefined where the phone's own looks are not enough. */
  readonly lookedAt: ToldScreen | undefined;
  /** Resolves when there are more than `count`, when the time is over, and when the signal aborts. */
  moreThan(count: number, waitMs: number, signal: AbortSignal): Promise<void>;
}

/** The text field that has the focus. */
export interface FieldLook {
  readonly isPassword: boolean;
  /** Dots in a password field; empty where only the hint is shown. */
  readonly shown: string;
}

/** Way to read and touch the screen of a phone: the UiAutomator2 server, the resident helper, or Android's own commands. */
export interface UiBackend {
  readonly source: 'uiautomator2' | 'resident' | 'dump';
  /** Aborted when the backend can't be used any more although the phone is there; its reason says why. */
  readonly failed: AbortSignal;
  /** Pictures that the phone makes small by itself; undefined where it can't. */
  readonly frames?: FrameSource | undefined;
  /** Notifier of changes; undefined where nobody tells of any. */
  readonly changes?: ChangeNotifier | undefined;
  /** The active window. May give `known` itself where the phone tells the same again. */
  readSource(signal: AbortSignal, known?: ToldScreen): Promise<ToldScreen>;
  /** Remark for callers on how the last trees came. */
  remark?(): string | undefined;
  /** The roots of all windows, the front one first; only the active one where the others can't be read. */
  readWindows(signal: AbortSignal): Promise<UiNode[]>;
  /** All windows that take touches, without their trees, the front one first. Undefined where Android does not tell. */
  readTouchWindows(signal: AbortSignal): Promise<readonly TouchWindow[] | undefined>;
  /** The screen as a PNG file. */
  takeScreenshot(signal: AbortSignal): Promise<Buffer>;
  tap(point: Point, signal: AbortSignal): Promise<void>;
  doubleTap(point: Point, signal: AbortSignal): Promise<void>;
  longPress(press: Point & { readonly durationMs: number }, signal: AbortSignal): Promise<void>;
  swipe(swipe: AgentCallParams<'input.swipe'>, signal: AbortSignal): Promise<void>;
  drag(way: AgentCallParams<'input.drag'>, signal: AbortSignal): Promise<void>;
  moveFingers(fingers: AgentCallParams<'input.fingers'>, signal: AbortSignal): Promise<void>;
  /** Puts the text after what the field with the focus holds. Resolves with the field as it was before; undefined where that takes seconds. */
  typeText(text: string, memory: PasswordMemory, signal: AbortSignal): Promise<FieldLook | undefined>;
  /** Throws `no_focused_field` when no text field has the focus. */
  readField(signal: AbortSignal): Promise<FieldLook>;
  clearText(signal: AbortSignal): Promise<void>;
  readClipboard(signal: AbortSignal): Promise<string>;
  writeClipboard(text: string, signal: AbortSignal): Promise<void>;
  pressKey(keyCode: number, signal: AbortSignal): Promise<void>;
  openNotifications(signal: AbortSignal): Promise<void>;
  /** Rejects when the phone does not answer. Cheap enough for every few seconds. */
  probe(signal: AbortSignal): Promise<void>;
  /** Rejects, and aborts `failed`, when the backend answers but no longer sees the screen. */
  probeScreen(signal: AbortSignal): Promise<void>;
  /** Wakes the screen and holds it awake for that time; 0 lets it sleep. */
  keepAwake(forMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

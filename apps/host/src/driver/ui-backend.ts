import type { AgentCallParams, UiNode } from '@phalanx/protocol';
import type { FrameSource } from './frames/frame-source.ts';
import type { Point } from './touch/rectangles.ts';
import type { TouchWindow } from './touch/touch-look.ts';
import type { ParsedTree } from './tree/parse-tree.ts';
import type { PasswordMemory } from './typed-password.ts';

/** Active window as the phone has reported it. */
export interface ScreenSnapshot {
  /** Digest of everything that was reported. */
  readonly digest: string;
  /** Decodes a new tree at each call, which the caller may change. Throws DriverError on what no phone sends. */
  tree(): ParsedTree;
}

/** Notifier of phones that report changes of their screens. */
export interface ChangeNotifier {
  /** Number of reported changes. */
  readonly count: number;
  /** Makes the phone report changes from now on. Returns true when it did not before. */
  watch(signal: AbortSignal): Promise<boolean>;
  /**
   * Makes the phone poll its screen each second, and report when it is not `lookedAt`. Returns a function that ends the
   * polling.
   */
  look(): () => void;
  /**
   * Active window that the phone reported last, for any request; undefined when the phone's own polling is not enough.
   */
  readonly lookedAt: ScreenSnapshot | undefined;
  /** Resolves when there are more than `count` changes, the time is over, or the signal aborts. */
  moreThan(count: number, waitMs: number, signal: AbortSignal): Promise<void>;
}

/** Text field that has the focus. */
export interface FieldLook {
  readonly isPassword: boolean;
  /** Dots in a password field; empty when only the hint is shown. */
  readonly shown: string;
}

/** Way to read and touch a phone's screen: the UiAutomator2 server, the resident helper, or Android's own commands. */
export interface UiBackend {
  readonly source: 'uiautomator2' | 'resident' | 'dump';
  /** Aborts when the backend is unusable although the phone is there; its reason says why. */
  readonly failed: AbortSignal;
  /** Pictures that the phone scales down by itself; undefined when it can't. */
  readonly frames?: FrameSource | undefined;
  /** Notifier of changes; undefined when nothing reports them. */
  readonly changes?: ChangeNotifier | undefined;
  /** Reads the active window. May return `known` itself when the phone reports the same again. */
  readSource(signal: AbortSignal, known?: ScreenSnapshot): Promise<ScreenSnapshot>;
  /** Remark for callers on how the last trees were read. */
  remark?(): string | undefined;
  /** Reads the roots of all windows, front to back; only the active one when the others can't be read. */
  readWindows(signal: AbortSignal): Promise<UiNode[]>;
  /**
   * Reads all windows that accept touches, without their trees, front to back. Undefined when Android does not report
   * them.
   */
  readTouchWindows(signal: AbortSignal): Promise<readonly TouchWindow[] | undefined>;
  /** Takes the screen as a PNG file. */
  takeScreenshot(signal: AbortSignal): Promise<Buffer>;
  tap(point: Point, signal: AbortSignal): Promise<void>;
  doubleTap(point: Point, signal: AbortSignal): Promise<void>;
  longPress(press: Point & { readonly durationMs: number }, signal: AbortSignal): Promise<void>;
  swipe(swipe: AgentCallParams<'input.swipe'>, signal: AbortSignal): Promise<void>;
  drag(way: AgentCallParams<'input.drag'>, signal: AbortSignal): Promise<void>;
  moveFingers(fingers: AgentCallParams<'input.fingers'>, signal: AbortSignal): Promise<void>;
  /**
   * Appends the text to what the field with the focus holds. Resolves with the field as it was before; undefined when
   * reading it takes seconds.
   */
  typeText(text: string, memory: PasswordMemory, signal: AbortSignal): Promise<FieldLook | undefined>;
  /** Reads the field. Throws `no_focused_field` when no text field has the focus. */
  readField(signal: AbortSignal): Promise<FieldLook>;
  clearText(signal: AbortSignal): Promise<void>;
  readClipboard(signal: AbortSignal): Promise<string>;
  writeClipboard(text: string, signal: AbortSignal): Promise<void>;
  pressKey(keyCode: number, signal: AbortSignal): Promise<void>;
  openNotifications(signal: AbortSignal): Promise<void>;
  /** Rejects when the phone does not answer. Cheap enough to run every few seconds. */
  probe(signal: AbortSignal): Promise<void>;
  /** Rejects, and aborts `failed`, when the backend answers but no longer sees the screen. */
  probeScreen(signal: AbortSignal): Promise<void>;
  /** Wakes the screen and keeps it awake for `forMs`; 0 lets it sleep. */
  keepAwake(forMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

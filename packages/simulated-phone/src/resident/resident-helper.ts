import { Finger } from '../android/input/touch.ts';
import { pressKey } from '../android/input/press-key.ts';
import type { Phone } from '../phone.ts';
import { findActiveTree, findTrees, listTouchWindows } from '../screen/screen.ts';
import { pause } from '../pause.ts';
import { NodeCache } from '../ui-server/node-cache.ts';
import { walk } from '../view/view.ts';
import type { TextField } from '../view/text-field.ts';
import { TreeWriter } from './tree-writer.ts';
import type { Android } from '../android/android.ts';

const request = {
  hello: 1,
  read: 2,
  gesture: 3,
  key: 4,
  field: 5,
  setText: 6,
  readClipboard: 7,
  writeClipboard: 8,
  picture: 9,
  watch: 10,
  release: 11,
  windows: 12,
} as const;
const answer = { ok: 64, same: 65, tree: 66, changed: 68 } as const;

/** Types of AccessibilityWindowInfo; the host only needs to recognize the keyboard. */
const windowType = { other: 1, inputMethod: 2 } as const;

/** Idle time in ms after which the helper releases UiAutomation. */
const holdMs = 10_000;
/** Interval in ms of the helper's own readings while the host requests them. */
const lookMs = 900;
const watchAndLook = 2;
/** Maximum time in ms to wait for a UiAutomation held by another program, and for a root. */
const busyMs = 5000;
const rootMs = 400;
const retryMs = 25;
const metaShift = 1;

export interface HelperAnswer {
  readonly kind: number;
  readonly payload: Buffer;
}

/** Error of the helper. The message begins with a word that the host parses. */
export class HelperRefusal extends Error {}

const ok = (text = ''): HelperAnswer => ({ kind: answer.ok, payload: Buffer.from(text) });

/** Resident helper of this phone. */
export class ResidentHelper {
  readonly #phone: Phone;
  readonly #build: string;
  /** Aborts when the helper ends: no finger touches the screen afterwards. */
  readonly #signal: AbortSignal;
  readonly #nodes = new NodeCache();
  readonly #changes: ChangeNotifier;
  #lastDigest = '';
  #isConnected = false;
  #letGo: NodeJS.Timeout | undefined;
  /** Digest of the active window that the host knows. */
  #lastActive = '';
  #looks: NodeJS.Timeout | undefined;

  /** Creates a helper. `send` sends an unrequested message. */
  constructor(
    phone: Phone,
    { build, signal, send }: { build: string; signal: AbortSignal; send: (answer: HelperAnswer) => void },
  ) {
    this.#phone = phone;
    this.#build = build;
    this.#signal = signal;
    this.#changes = new ChangeNotifier(
      phone.android,
      () => phone.faults.eventIntervalMs,
      // Without UiAutomation the helper receives no events.
      () => this.#isConnected && send({ kind: answer.changed, payload: Buffer.alloc(4) }),
    );
  }

  async answer(kind: number, payload: Buffer): Promise<HelperAnswer> {
    const { android } = this.#phone;
    switch (kind) {
      case request.hello:
        return ok(`1 ${android.identity.sdkVersion} ${this.#build}`);
      case request.read:
        return this.#read(payload[0] === 1, payload[1] === 1);
      case request.gesture:
        return this.#gesture(payload);
      case request.key:
        this.#requireInjection();
        pressKey(android, payload.readInt32BE(0), (payload.readInt32BE(4) & metaShift) !== 0);
        return ok();
      case request.field: {
        const field = await this.#focusedField();
        return ok(`${field.password ? 1 : 0}${field.shownText}`);
      }
      case request.setText:
        (await this.#focusedField()).setText(payload.toString());
        android.inputs.add({ kind: 'text', text: payload.toString() });
        android.redraw();
        return ok();
      case request.readClipboard:
        return ok(android.clipboard);
      case request.writeClipboard:
        android.clipboard = payload.toString();
        return ok();
      case request.windows:
        return this.#windows();
      case request.picture:
        return this.#picture();
      case request.watch:
        this.#watch(payload[0] ?? 0);
        return ok();
      case request.release:
        this.release();
        return ok();
      default:
        throw new HelperRefusal(`bad_request: kind ${kind}`);
    }
  }

  release(): void {
    clearTimeout(this.#letGo);
    if (this.#isConnected) this.#phone.instrumentation.giveBack();
    this.#isConnected = false;
  }

  close(): void {
    clearInterval(this.#looks);
    this.#changes.close();
    this.release();
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#letGo);
    this.#letGo = setTimeout(() => this.release(), holdMs).unref();
    const { instrumentation } = this.#phone;
    for (let waitedMs = 0; !this.#isConnected; waitedMs += retryMs) {
      this.#isConnected = instrumentation.borrow();
      if (waitedMs > busyMs)
        throw new HelperRefusal(
          'busy: java.lang.IllegalStateException: UiAutomationService already registered!',
        );
      if (!this.#isConnected) await pause(this.#signal, retryMs);
    }
  }

  #watch(kind: number): void {
    this.#changes.watch(kind > 0);
    clearInterval(this.#looks);
    if (kind === watchAndLook) this.#looks = setInterval(() => void this.#look(), lookMs).unref();
  }

  /**
   * Reads the screen and reports changes. A failed reading counts as a change: the host then reads by itself and gets
   * the error.
   */
  async #look(): Promise<void> {
    const written = this.#connect().then(() => this.#write(false));
    const digest = await written.then(
      (tree) => tree.digest,
      () => undefined,
    );
    if (digest !== this.#lastActive) this.#changes.lookedAtAnother();
  }

  async #read(allWindows: boolean, isFresh: boolean): Promise<HelperAnswer> {
    await this.#connect();
    this.#changes.beginReading();
    this.#phone.faults.beforeReading?.();
    const { digest, packed } = await this.#write(allWindows);
    if (!allWindows) this.#lastActive = digest;
    const isSame = !isFresh && digest === this.#lastDigest;
    this.#lastDigest = digest;
    return isSame ? { kind: answer.same, payload: Buffer.alloc(0) } : { kind: answer.tree, payload: packed };
  }

  async #write(allWindows: boolean): Promise<{ digest: string; packed: Buffer }> {
    const { android, faults } = this.#phone;
    this.#nodes.clear();
    const screen = this.#nodes.look(android.screen, faults.eventIntervalMs);
    const active = findActiveTree(screen);
    const isBlind = faults.nullRoot || faults.wornHelper;
    const roots = isBlind ? [] : allWindows ? findTrees(screen) : active ? [active] : [];
    if (roots.length === 0) {
      await pause(this.#signal, rootMs);
      throw new HelperRefusal(`no_root: ${screen.windows.length} windows, none with a tree`);
    }
    const tree = new TreeWriter();
    const { announced } = android.notices;
    tree.number(announced === undefined ? 0 : 1);
    if (announced !== undefined) tree.text(announced);
    tree.number(screen.rotation);
    tree.number(roots.length);
    for (const root of roots) tree.node(root, !faults.emptyWebPages);
    tree.number(0);
    return tree.finish();
  }

  async #windows(): Promise<HelperAnswer> {
    await this.#connect();
    const tree = new TreeWriter();
    const windows = listTouchWindows(this.#phone.android.screen);
    tree.number(windows.length);
    for (const { window, area } of windows) {
      tree.number(window.title === 'InputMethod' ? windowType.inputMethod : windowType.other);
      tree.text(window.root.packageName);
      for (const side of [area.left, area.top, area.right, area.bottom]) tree.signed(side);
    }
    return { kind: answer.ok, payload: tree.finish().packed };
  }

  #requireInjection(): void {
    if (this.#phone.faults.restrictedDebugging)
      throw new HelperRefusal(
        'input_refused: java.lang.SecurityException: Injecting input events requires the INJECT_EVENTS permission.',
      );
  }

  async #gesture(payload: Buffer): Promise<HelperAnswer> {
    this.#requireInjection();
    const int = (at: number): number => payload.readInt32BE(at);
    const [delayMs, restMs, moveMs] = [int(0), int(4), int(8)];
    const durationMs = restMs + moveMs;
    const gestures = Array.from({ length: payload.readUInt8(12) }, (_, finger) => {
      const at = 13 + 16 * finger;
      return { from: { x: int(at), y: int(at + 4) }, to: { x: int(at + 8), y: int(at + 12) }, durationMs };
    });
    const [signal, { android }] = [this.#signal, this.#phone];
    const [first, ...others] = gestures;
    await pause(signal, delayMs);
    const finger = first && others.length === 0 ? new Finger(android, first.from) : undefined;
    await pause(signal, restMs);
    if (first && finger) await finger.moveTo(first.to, moveMs, signal);
    else await pause(signal, moveMs);
    if (signal.aborted) return ok();
    if (finger) finger.lift(durationMs);
    else android.inputs.add({ kind: 'fingers', gestures });
    return ok();
  }

  async #focusedField(): Promise<TextField> {
    await this.#connect();
    const tree = findActiveTree(this.#phone.android.screen);
    const focused = tree && walk(tree).find(({ view }) => view.focused === true && view.field !== undefined);
    if (focused?.view.field) return focused.view.field;
    throw new HelperRefusal('no_field: nothing that takes text has the focus');
  }

  async #picture(): Promise<HelperAnswer> {
    await this.#connect();
    const { secureWindow, forbidsCapture } = this.#phone.faults;
    if (secureWindow || forbidsCapture) throw new HelperRefusal('no_picture: Android gave no picture');
    return { kind: answer.ok, payload: await this.#phone.camera.take('png') };
  }
}

/** Time in ms for which the real helper collects changes before it reports them. */
const gatherMs = 30;

/** Reports the first change after a reading and no more until the next one (Changes.java). */
class ChangeNotifier {
  readonly #notify: () => void;
  readonly #intervalMs: () => number;
  readonly #leave: () => void;
  #isWatched = false;
  #isNotified = false;
  #lastAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** Creates a notifier. `intervalMs` is the minimum interval between accessibility events of apps. */
  constructor(android: Android, intervalMs: () => number, notify: () => void) {
    this.#notify = notify;
    this.#intervalMs = intervalMs;
    this.#leave = android.shown.onRedraw(() => this.#changed());
  }

  watch(isOn: boolean): void {
    this.#isWatched = isOn;
    this.#isNotified = false;
  }

  /** Marks the start of a reading: later changes are not in its tree, so they are reported again. */
  beginReading(): void {
    this.#isNotified = false;
  }

  /** Notes that the helper's own reading found another screen, for which no event is pending. */
  lookedAtAnother(): void {
    this.#notifyLater(0);
  }

  close(): void {
    this.#leave();
    clearTimeout(this.#timer);
  }

  #changed(): void {
    const intervalMs = this.#intervalMs();
    if (intervalMs < Infinity) this.#notifyLater(Math.max(0, this.#lastAt + intervalMs - performance.now()));
  }

  #notifyLater(lateMs: number): void {
    if (!this.#isWatched || this.#isNotified) return;
    this.#isNotified = true;
    this.#timer = setTimeout(() => {
      this.#lastAt = performance.now();
      this.#notify();
    }, lateMs + gatherMs).unref();
  }
}

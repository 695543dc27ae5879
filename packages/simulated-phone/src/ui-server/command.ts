import type { Phone } from '../phone.ts';
import { pause } from '../pause.ts';
import { findActiveTree } from '../screen/screen.ts';
import type { VisibleView } from '../view/view.ts';
import type { Session } from './session.ts';
import { WebDriverError } from './web-driver-error.ts';

/** Request of a session, as its handler gets it. */
export interface Command {
  readonly phone: Phone;
  readonly session: Session;
  /** Parsed JSON body; undefined for GET. */
  readonly body: unknown;
  /** Values of the route's `:name` parts. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Interval in ms at which the real server retries to get the root. */
const rootRetryMs = 250;

/** Handles a command. Resolves with the reply's `value`. */
export type Handler = (command: Command) => unknown;

/**
 * Returns the tree of the active window. Waits for one and eventually throws, like the real server
 * (AXWindowHelpers.java).
 */
export async function getTree({ phone }: Command): Promise<VisibleView> {
  const { faults, instrumentation, android } = phone;
  const hasRoot = () => !faults.nullRoot && !faults.wornHelper && instrumentation.holdsUiAutomation;
  for (const until = performance.now() + faults.rootWaitMs; performance.now() < until;) {
    const tree = hasRoot() ? findActiveTree(android.screen) : undefined;
    if (tree) return tree;
    await pause(AbortSignal.timeout(faults.rootWaitMs), Math.min(rootRetryMs, faults.rootWaitMs));
  }
  const reason = `Timed out after ${faults.rootWaitMs}ms waiting for the root AccessibilityNodeInfo in the active window.`;
  throw new WebDriverError(
    'unknown error',
    `${reason} Make sure the active window is not constantly hogging the main UI thread`,
  );
}

/** Throws at once if Android has ended the UiAutomation. Only reading the tree waits instead. */
export function requireUiAutomation({ instrumentation }: Phone): void {
  if (instrumentation.holdsUiAutomation) return;
  const cause = 'java.lang.IllegalStateException: UiAutomation not connected!';
  throw new WebDriverError('unknown error', cause, cause);
}

const injecting =
  'java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission';

/** Rejects the input of a gesture or a key on phones with a second switch for USB debugging. */
export function requireInjection(phone: Phone, kind: 'gesture' | 'actions' | 'key', keyCode = 0): void {
  requireUiAutomation(phone);
  if (!phone.faults.restrictedDebugging) return;
  if (kind === 'actions')
    throw new WebDriverError(
      'invalid element state',
      'Unable to perform W3C actions. Check the logcat output for possible error reports and make sure your input actions chain is valid.',
    );
  if (kind === 'key')
    throw new WebDriverError(
      'invalid element state',
      `Cannot generate key press event for key code ${keyCode}`,
    );
  throw new WebDriverError(
    'unknown error',
    'Cannot invoke method public void androidx.test.uiautomator.GestureController.performGesture',
    injecting,
  );
}

export function getElement({ session, parameters }: Command): VisibleView {
  return session.getElement(parameters['id'] ?? '');
}

import type { Phone } from '../phone.ts';
import { pause } from '../pause.ts';
import { findActiveTree } from '../screen/screen.ts';
import type { VisibleView } from '../view/view.ts';
import type { Session } from './session.ts';
import { WebDriverError } from './web-driver-error.ts';

/** One request of a session, as its handler gets it. */
export interface Command {
  readonly phone: Phone;
  readonly session: Session;
  /** The parsed JSON body; undefined for GET. */
  readonly body: unknown;
  /** Values of the `:name` parts of the route. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** How often the real server looks again for the root. */
const rootRetryMs = 250;

/** Resolves to `value` of the answer. */
export type Handler = (command: Command) => unknown;

/** The tree of the active window. Waits for one and then throws, as the real server does (AXWindowHelpers.java). */
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

/** Everything but reading the tree throws at once when Android has ended the UiAutomation. */
export function requireUiAutomation({ instrumentation }: Phone): void {
  if (instrumentation.holdsUiAutomation) return;
  const cause = 'java.lang.IllegalStateException: UiAutomation not connected!';
  throw new WebDriverError('unknown error', cause, cause);
}

const injecting =
  'java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission';

/** Phones with a second switch for USB debugging refuse what a gesture or a key injects. */
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

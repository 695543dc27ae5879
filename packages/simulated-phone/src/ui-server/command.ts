import type { Phone } from '../phone.ts';
import { findActiveTree } from '../screen/screen.ts';
import type { VisibleView } from '../view/find-view.ts';
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

/** Resolves to `value` of the answer. */
export type Handler = (command: Command) => unknown;

/** The tree of the active window. Throws as the real server does when there is none. */
export function getTree({ phone }: Command): VisibleView {
  const tree = findActiveTree(phone.android.screen);
  if (tree) return tree;
  const reason = 'Timed out after 10000ms waiting for the root AccessibilityNodeInfo in the active window.';
  throw new WebDriverError(
    'unknown error',
    `${reason} Make sure the active window is not constantly hogging the main UI thread`,
  );
}

export function getElement({ session, parameters }: Command): VisibleView {
  return session.getElement(parameters['id'] ?? '');
}

import type { Android } from '../android/android.ts';
import { findActiveTree } from '../screen/screen.ts';
import { type VisibleView, walk } from '../view/view.ts';

/** Returns the first visible view of the active window with this text, description or ID (short or full). */
export function findView(android: Android, name: string): VisibleView | undefined {
  const tree = findActiveTree(android.screen);
  if (!tree) return undefined;
  const isNamed = ({ view }: VisibleView) =>
    view.text === name ||
    view.description === name ||
    view.resourceId === name ||
    view.resourceId?.endsWith(`:id/${name}`) === true;
  return walk(tree).find((visible) => isNamed(visible));
}

import type { Android } from '../android/android.ts';
import { findActiveTree } from '../screen/screen.ts';
import { type VisibleView, walk } from '../view/view.ts';

/** The first visible view of the active window whose text, description or id (short or full) is this. */
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

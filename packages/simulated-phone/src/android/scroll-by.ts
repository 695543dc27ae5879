import { findActiveTree } from '../screen/screen.ts';
import { walk } from '../view/find-view.ts';
import { rectHeight } from '../view/rect.ts';
import type { Android } from './android.ts';

/** Scrolls the first list of the screen by a share of its height; negative is upwards. */
export function scrollBy(android: Android, share: number): void {
  const tree = findActiveTree(android.screen);
  const list = tree && walk(tree).find(({ view }) => view.scroll !== undefined);
  if (!list?.view.scroll) return;
  const { scroll } = list.view;
  const move = Math.round(rectHeight(list.bounds) * share);
  scroll.offset = Math.min(Math.max(scroll.offset + move, 0), scroll.max);
  android.redraw();
}

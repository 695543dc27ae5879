import type { Screen } from '../../screen/screen.ts';
import type { TextField } from '../../view/text-field.ts';
import type { View } from '../../view/view.ts';

/** Returns the views from the root down to the field's own. */
function findPath(view: View, field: TextField): View[] | undefined {
  if (view.field === field) return [view];
  for (const child of view.children ?? []) {
    const path = findPath(child, field);
    if (path) return [view, ...path];
  }
  return undefined;
}

/** Scrolls the list around a field so that the keyboard does not hide it. Returns whether it moved. */
export function revealField(screen: Screen, field: TextField): boolean {
  for (const window of screen.windows) {
    const path = findPath(window.root, field);
    const list = path?.findLast((view) => view.scroll !== undefined);
    const target = path?.at(-1);
    if (!list?.scroll || !target) continue;
    const below = target.frame.bottom - list.frame.bottom;
    const above = list.frame.top - target.frame.top;
    const move = below > 0 ? below : above > 0 ? -above : 0;
    const offset = Math.min(Math.max(list.scroll.offset + move, 0), list.scroll.max);
    const moved = offset !== list.scroll.offset;
    list.scroll.offset = offset;
    return moved;
  }
  return false;
}

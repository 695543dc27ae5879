import type { MouseEvent } from 'react';

/** A click on a row opens it, unless it was on something in the row, or selected text. */
export const openRow =
  (open: () => void) =>
  ({ target, currentTarget }: MouseEvent): void => {
    if (!(target instanceof Element) || !currentTarget.contains(target)) return;
    if (target.closest('a, button, input, label, select') !== null) return;
    if (window.getSelection()?.isCollapsed === false) return;
    open();
  };

/** Height of a list's row in pixels, from the style sheet for this screen. */
export const rowHeight = (): number =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row'), 10) || 32;

import type { MouseEvent } from 'react';

/** Opens a row on click, unless the click hit a control in the row or selected text. */
export const openRow =
  (open: () => void) =>
  ({ target, currentTarget }: MouseEvent): void => {
    if (!(target instanceof Element) || !currentTarget.contains(target)) return;
    if (target.closest('a, button, input, label, select') !== null) return;
    if (window.getSelection()?.isCollapsed === false) return;
    open();
  };

/** Returns the height of a list row in pixels, which the style sheet sets for this screen. */
export const rowHeight = (): number =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row'), 10) || 32;

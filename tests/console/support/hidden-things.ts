import type { Page } from 'playwright-core';

/**
 * Lists unreadable or unreachable content of the current page, one line each: a cut text without a title, a control
 * outside of scrollable content, a field wider than its part of the page, and a covered control. Content below a
 * dialog need not be reachable.
 */
export const findHiddenThings = (page: Page): Promise<string[]> => page.evaluate(findInPage);

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Runs in the page, so it must not use outer variables. */
function findInPage(): string[] {
  const controls =
    'a[href], button, input, select, textarea, summary, [role="tab"], [role="option"], [role="treeitem"], [role="slider"]';
  /** Minimum visible size of a control in pixels that can be touched. */
  const enough = 20;
  const dialogs = [...document.querySelectorAll('#popups [role="dialog"]')];
  const root = dialogs.at(-1) ?? document.body;
  const found = new Set<string>();

  const boxOf = (element: Element): Box => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom };
  };
  const overlapOf = (one: Box, other: Box): Box => ({
    left: Math.max(one.left, other.left),
    right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top),
    bottom: Math.min(one.bottom, other.bottom),
  });
  const isShown = (element: Element): boolean => {
    const { width, height } = element.getBoundingClientRect();
    if (width < 2 || height < 2) return false;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    // Elements for screen readers only are not visible.
    return element.closest('.visually-hidden') === null && getComputedStyle(element).clipPath === 'none';
  };
  const nameOf = (element: Element): string => {
    const text = element.getAttribute('aria-label') ?? element.textContent;
    return `${element.tagName.toLowerCase()} “${text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)}”`;
  };
  const clips = (overflow: string): boolean => overflow === 'hidden' || overflow === 'clip';
  const scrolls = (overflow: string): boolean => overflow === 'auto' || overflow === 'scroll';

  /** Checks that enough of the control can be scrolled into view. Returns its visible part. */
  const checkReach = (element: Element): Box => {
    const seen = boxOf(element);
    const reached = { ...seen };
    const needed = {
      x: Math.min(enough, seen.right - seen.left) - 1,
      y: Math.min(enough, seen.bottom - seen.top) - 1,
    };
    let shown = seen;
    const isFixed = getComputedStyle(element).position === 'fixed';
    for (let at = isFixed ? null : element.parentElement; at !== null; at = at.parentElement) {
      const box = boxOf(at);
      const { overflowX, overflowY, position } = getComputedStyle(at);
      const common = overlapOf(reached, box);
      const [frameX, frameY] = [scrolls(overflowX) ? box : common, scrolls(overflowY) ? box : common];
      // A scrolling part shows its content within its own frame, which must be reachable then.
      if (overflowX !== 'visible') [reached.left, reached.right] = [frameX.left, frameX.right];
      if (overflowY !== 'visible') [reached.top, reached.bottom] = [frameY.top, frameY.bottom];
      if (overflowX !== 'visible' || overflowY !== 'visible') shown = overlapOf(shown, box);
      if (reached.right - reached.left < needed.x || reached.bottom - reached.top < needed.y) {
        found.add(`cut off: ${nameOf(element)}`);
        return shown;
      }
      if (position === 'fixed') break;
    }
    const page = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const inPage = overlapOf(reached, page);
    if (inPage.right - inPage.left < needed.x || inPage.bottom - inPage.top < needed.y)
      found.add(`outside of the window: ${nameOf(element)}`);
    return overlapOf(shown, page);
  };

  /** Checks that a form field is not wider than its container: users must not scroll sideways to type. */
  const checkField = (element: Element): void => {
    if (!element.matches('input, select, textarea') || element.closest('[role="row"]') !== null) return;
    const { right } = boxOf(element);
    for (let at = element.parentElement; at !== null; at = at.parentElement)
      if (scrolls(getComputedStyle(at).overflowX)) {
        if (right > boxOf(at).right + 1) found.add(`wider than its part of the page: ${nameOf(element)}`);
        return;
      }
  };

  const isSticky = (element: Element): boolean => {
    for (let at: Element | null = element; at !== null; at = at.parentElement)
      if (getComputedStyle(at).position === 'sticky') return true;
    return false;
  };

  const checkCover = (element: Element, { left, right, top, bottom }: Box): void => {
    if (right - left < 2 || bottom - top < 2) return;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y)?.closest(controls);
    if (hit === null || hit === undefined || hit.contains(element) || element.contains(hit)) return;
    // A sticky element stays in place while the rest scrolls below it.
    if (isSticky(hit)) return;
    const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
    if (labels.some((label) => label.contains(hit))) return;
    found.add(`${nameOf(hit)} lies over ${nameOf(element)}`);
  };

  const checkText = (element: Element): void => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const isCutX = clips(overflowX) && element.scrollWidth > element.clientWidth + 1;
    const isCutY = clips(overflowY) && element.scrollHeight > element.clientHeight + 1;
    if (!isCutX && !isCutY) return;
    if (element.textContent.trim() === '') return;
    const isTold =
      element.closest('[title]') !== null ||
      element.hasAttribute('aria-label') ||
      element.querySelector('[title]') !== null;
    if (!isTold) found.add(`cut text: ${nameOf(element)}`);
  };

  for (const element of root.querySelectorAll('*')) {
    // The editor scrolls its own content.
    if (element.closest('.cm-editor, svg') !== null || !isShown(element)) continue;
    checkText(element);
    // The skip link becomes visible when it gets the focus.
    if (!element.matches(controls) || element.matches('a[href^="#"]')) continue;
    checkField(element);
    checkCover(element, checkReach(element));
  }
  return [...found];
}

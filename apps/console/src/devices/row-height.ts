/** Of a row of a list, as the style sheet says it for this screen. */
export const rowHeight = (): number =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row'), 10) || 32;

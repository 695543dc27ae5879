import type { Rect } from '../view/rect.ts';
import type { View } from '../view/view.ts';

const notInXml = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes an attribute's value. Characters that XML does not permit become `replacement`, as in Android's
 * serializers.
 */
export function escapeAttribute(value: string, replacement: string): string {
  return value
    .replace(notInXml, replacement)
    .replace(/[&<>"]/g, (character) => entities[character] ?? character)
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function formatBounds({ left, top, right, bottom }: Rect): string {
  return `[${left},${top}][${right},${bottom}]`;
}

/** Returns the flags of an AccessibilityNodeInfo, derived from the view's behavior. */
export function accessibilityFlags(view: View) {
  const clickable = view.onTap !== undefined || view.onDoubleTap !== undefined;
  return {
    checkable: view.checkable ?? false,
    checked: view.checked ?? false,
    clickable,
    enabled: view.enabled ?? true,
    focusable: clickable || (view.scroll !== undefined && view.scroll.max > 0),
    focused: view.focused ?? false,
    scrollable: view.scroll !== undefined && view.scroll.max > 0,
    longClickable: view.onLongPress !== undefined,
    password: view.password ?? false,
    selected: view.selected ?? false,
  };
}

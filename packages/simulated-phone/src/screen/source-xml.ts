import type { VisibleView } from '../view/find-view.ts';
import { accessibilityFlags, escapeAttribute, formatBounds } from './attributes.ts';
import { findActiveTree, type Screen } from './screen.ts';

/** A class name as an element name: `$`, `@`, `#` and `&` are not allowed in one. */
export function elementName(className: string): string {
  const dotted = className.replace(/[$@#&]/g, '.').replace(/\.+/g, '.');
  return dotted.replace(/^\.|\.$/g, '') || 'android.view.View';
}

/** The attributes of one element in the order of the real server; undefined ones are left out. */
export function sourceAttributes(
  { view, bounds }: VisibleView,
  index: number,
): Record<string, string | undefined> {
  const flags = accessibilityFlags(view);
  const isHintShown = view.field !== undefined && view.field.text === '' && view.hint !== undefined;
  return {
    index: String(index),
    package: view.packageName,
    class: view.className,
    text: view.text ?? '',
    'content-desc': view.description,
    'resource-id': view.resourceId,
    checkable: String(flags.checkable),
    checked: String(flags.checked),
    clickable: String(flags.clickable),
    enabled: String(flags.enabled),
    focusable: String(flags.focusable),
    focused: String(flags.focused),
    'long-clickable': String(flags.longClickable),
    password: String(flags.password),
    scrollable: String(flags.scrollable),
    selected: String(flags.selected),
    bounds: formatBounds(bounds),
    displayed: 'true',
    hint: view.hint,
    'a11y-important': 'true',
    'screen-reader-focusable': 'false',
    'showing-hint': String(isHintShown),
    'a11y-focused': 'false',
    heading: 'false',
    'live-region': '0',
  };
}

function serialize(visible: VisibleView, index: number, depth: number): string {
  const indent = '  '.repeat(depth);
  const name = elementName(visible.view.className);
  const attributes = Object.entries(sourceAttributes(visible, index))
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([key, value]) => ` ${key}="${escapeAttribute(value, '?')}"`)
    .join('');
  if (visible.children.length === 0) return `${indent}<${name}${attributes} />\n`;
  const inner = visible.children.map((child, childIndex) => serialize(child, childIndex, depth + 1)).join('');
  return `${indent}<${name}${attributes}>\n${inner}${indent}</${name}>\n`;
}

/** What the UiAutomator2 server answers to GET source: element names are class names. */
export function sourceXml(screen: Screen): string {
  const tree = findActiveTree(screen);
  const size = `rotation="0" width="${screen.width}" height="${screen.height}"`;
  const inner = tree ? serialize(tree, 0, 1) : '';
  const declaration = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n`;
  return `${declaration}<hierarchy index="0" class="hierarchy" ${size}>\n${inner}</hierarchy>`;
}

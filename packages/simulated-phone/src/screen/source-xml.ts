import type { VisibleView } from '../view/view.ts';
import type { TextField } from '../view/text-field.ts';
import { accessibilityFlags, escapeAttribute, formatBounds } from './attributes.ts';
import { findActiveTree, findTrees, type Screen } from './screen.ts';
import { listed, type OtherDisplay } from './other-display.ts';

/** Converts a class name to an element name, which excludes `$`, `@`, `#` and `&`. */
function elementName(className: string): string {
  const dotted = className.replace(/[$@#&]/g, '.').replace(/\.+/g, '.');
  return dotted.replace(/^\.|\.$/g, '') || 'android.view.View';
}

/** Returns the attributes of an element in the order of the real server, without undefined ones. */
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
    'input-type': view.field && String(inputTypeOf(view.field)),
    'drawing-order': '0',
    'showing-hint': String(isHintShown),
    'text-entry-key': 'false',
    multiline: view.field && String(view.field.multiline),
    dismissable: 'false',
    'a11y-focused': 'false',
    heading: 'false',
    'live-region': '0',
    'context-clickable': 'false',
    'max-text-length': view.field && String(view.field.maxLength),
    'content-invalid': 'false',
    'window-id': '3',
  };
}

/** Returns Android's input types of text, multi-line text and passwords. */
export function inputTypeOf(field: TextField): number {
  if (field.password) return 0x81;
  return field.multiline ? 0x2_0001 : 1;
}

export const webPage = 'android.webkit.WebView';

interface Cut extends Pick<SourceOptions, 'maxDepth' | 'hasWebPages'> {
  /** Display ID for each node; undefined if the server reports only the main display. */
  readonly displayId: number | undefined;
}

function serialize(visible: VisibleView, index: number, depth: number, cut: Cut): string {
  const indent = '  '.repeat(depth);
  const name = elementName(visible.view.className);
  const displayId = cut.displayId === undefined ? undefined : String(cut.displayId);
  const attributes = Object.entries({ ...sourceAttributes(visible, index), 'display-id': displayId })
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([key, value]) => ` ${key}="${escapeAttribute(value, '?')}"`)
    .join('');
  const isCut = depth >= cut.maxDepth || (!cut.hasWebPages && visible.view.className === webPage);
  if (visible.children.length === 0 || isCut) return `${indent}<${name}${attributes} />\n`;
  const inner = visible.children
    .map((child, childIndex) => serialize(child, childIndex, depth + 1, cut))
    .join('');
  return `${indent}<${name}${attributes}>\n${inner}${indent}</${name}>\n`;
}

export interface SourceOptions {
  /** Maximum depth; deeper nodes are silently dropped. */
  readonly maxDepth: number;
  /** Whether web pages have nodes. */
  readonly hasWebPages: boolean;
  /** Whether to include all windows instead of the active one. */
  readonly allWindows: boolean;
  /** Latest toast or notification, which becomes a second root beside the window's. */
  readonly announced: string | undefined;
  /** Displays whose windows are included as well. */
  readonly otherDisplays: readonly OtherDisplay[];
}

/** Returns the windows of another display, in pixels of that display. */
function otherRoots({ id, windows, ...size }: OtherDisplay, options: SourceOptions): string[] {
  const trees = findTrees({ ...size, rotation: 0, windows });
  return trees.map((tree, index) => serialize(tree, index, 1, { ...options, displayId: id }));
}

function toastRoot(text: string, index: number): string {
  const attributes = `index="${index}" package="com.android.settings" class="android.widget.Toast"`;
  return `  <android.widget.Toast ${attributes} text="${escapeAttribute(text, '?')}" displayed="true" />\n`;
}

/** Returns the UiAutomator2 server's reply to GET source: element names are class names. */
export function sourceXml(screen: Screen, options: SourceOptions): string {
  const active = findActiveTree(screen);
  const trees = options.allWindows ? findTrees(screen) : active ? [active] : [];
  const size = `rotation="${screen.rotation}" width="${screen.width}" height="${screen.height}"`;
  const { otherDisplays } = options;
  const cut = { ...options, displayId: otherDisplays.length > 0 ? 0 : undefined };
  const own = trees.map((tree, index) => serialize(tree, index, 1, cut)).join('');
  const roots = listed(own, otherDisplays, (other) => otherRoots(other, options).join(''));
  if (options.announced !== undefined) roots.push(toastRoot(options.announced, trees.length));
  const inner = roots.join('');
  const declaration = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n`;
  return `${declaration}<hierarchy index="0" class="hierarchy" ${size}>\n${inner}</hierarchy>`;
}

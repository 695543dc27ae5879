import type { VisibleView } from '../view/view.ts';
import { accessibilityFlags, escapeAttribute, formatBounds } from './attributes.ts';
import { findActiveTree, type Screen } from './screen.ts';

const interactiveContainers = /\.(?:GridView|GridLayout|ListView|TableLayout)$/;

/** Whether the node is "not accessibility friendly": tappable but without a name. */
function isUnnamed({ view, children }: VisibleView): boolean {
  const hasName = (view.text ?? '') !== '' || (view.description ?? '') !== '';
  if (!view.onTap || view.enabled === false || interactiveContainers.test(view.className)) return false;
  return !hasName && !children.some((child) => isNamedInside(child));
}

function isNamedInside({ view, children }: VisibleView): boolean {
  if ((view.text ?? '') !== '' || (view.description ?? '') !== '') return true;
  return children.some((child) => isNamedInside(child));
}

function nodeAttributes(visible: VisibleView, index: number): Record<string, string> {
  const { view, bounds } = visible;
  const flags = accessibilityFlags(view);
  return {
    ...(isUnnamed(visible) ? { NAF: 'true' } : {}),
    index: String(index),
    text: view.text ?? '',
    'resource-id': view.resourceId ?? '',
    class: view.className,
    package: view.packageName,
    'content-desc': view.description ?? '',
    checkable: String(flags.checkable),
    checked: String(flags.checked),
    clickable: String(flags.clickable),
    enabled: String(flags.enabled),
    focusable: String(flags.focusable),
    focused: String(flags.focused),
    scrollable: String(flags.scrollable),
    'long-clickable': String(flags.longClickable),
    password: String(flags.password),
    selected: String(flags.selected),
    bounds: formatBounds(bounds),
  };
}

/** Whether `--compressed` keeps the view: it omits views that only lay out others. */
function isImportant({ view }: VisibleView): boolean {
  return Boolean(
    view.onTap ||
    view.onLongPress ||
    view.scroll ||
    view.field ||
    view.checkable ||
    view.text ||
    view.description ||
    view.resourceId,
  );
}

function importantChildren(visible: VisibleView): VisibleView[] {
  return visible.children.flatMap((child) => (isImportant(child) ? [child] : importantChildren(child)));
}

interface DumpOptions {
  readonly compressed: boolean;
  /** Replaces each emoji with two full stops. Default: false. */
  readonly losesEmoji?: boolean;
}

const emoji = /[\u{10000}-\u{10FFFF}]/gu;

function serialize(visible: VisibleView, index: number, options: DumpOptions): string {
  const { compressed, losesEmoji = false } = options;
  const shown = (value: string): string => (losesEmoji ? value.replaceAll(emoji, '..') : value);
  const attributes = Object.entries(nodeAttributes(visible, index))
    .map(([name, value]) => ` ${name}="${escapeAttribute(shown(value), '.')}"`)
    .join('');
  const children = compressed ? importantChildren(visible) : visible.children;
  if (children.length === 0) return `<node${attributes} />`;
  const inner = children.map((child, childIndex) => serialize(child, childIndex, options)).join('');
  return `<node${attributes}>${inner}</node>`;
}

/** Returns the output of `uiautomator dump`; undefined without an active window. */
export function findUiautomatorXml(screen: Screen, options: DumpOptions): string | undefined {
  const tree = findActiveTree(screen);
  if (!tree) return undefined;
  const declaration = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>`;
  return `${declaration}<hierarchy rotation="${screen.rotation}">${serialize(tree, 0, options)}</hierarchy>`;
}

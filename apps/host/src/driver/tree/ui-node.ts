import type { Bounds, UiNode } from '@phalanx/protocol';

type Attributes = Readonly<Record<string, string>>;

/** An XML element as a node. The names differ a little between UiAutomator2 and `uiautomator dump`. */
export function toUiNode(elementName: string, attributes: Attributes): UiNode {
  const text = (name: string): string | null => attributes[name] || null;
  const flag = (name: string): boolean => attributes[name] === 'true';
  return {
    className: text('class') ?? (elementName === 'node' ? null : elementName),
    packageName: attributes['package'] ?? '',
    viewId: text('resource-id'),
    text: isReadable(attributes) ? text('text') : dots(attributes['text']),
    description: text('content-desc'),
    hintText: text('hint'),
    tooltipText: text('tooltip-text'),
    paneTitle: text('pane-title'),
    containerTitle: text('container-title'),
    index: integer(attributes['index'], 0),
    boundsInScreen: parseBounds(attributes['bounds']),
    maxTextLength: integer(attributes['max-text-length'], -1),
    inputType: attributes['input-type'] ?? '',
    isShowingHintText: flag('showing-hint'),
    checkable: flag('checkable'),
    checked: flag('checked'),
    clickable: flag('clickable'),
    enabled: flag('enabled'),
    focusable: flag('focusable'),
    focused: flag('focused'),
    longClickable: flag('long-clickable'),
    password: flag('password'),
    scrollable: flag('scrollable'),
    selected: flag('selected'),
    visible: (attributes['displayed'] ?? attributes['visible-to-user']) !== 'false',
    children: [],
  };
}

/** Android tells dots of a password; apps that draw their fields themselves may tell all of it. Dumps don't tell hints apart. */
const isReadable = (attributes: Attributes): boolean =>
  attributes['password'] !== 'true' || attributes['showing-hint'] !== 'false';

const dots = (text = ''): string | null => '•'.repeat(Array.from(text).length) || null;

const boundsForm = /^\[(-?\d{1,7}),(-?\d{1,7})\]\[(-?\d{1,7}),(-?\d{1,7})\]$/;

function parseBounds(value = ''): Bounds {
  const [, left, top, right, bottom] = boundsForm.exec(value) ?? [];
  return {
    left: integer(left, 0),
    top: integer(top, 0),
    right: integer(right, 0),
    bottom: integer(bottom, 0),
  };
}

function integer(value: string | undefined, otherwise: number): number {
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isSafeInteger(number) ? number : otherwise;
}

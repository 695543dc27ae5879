import type { Bounds, UiNode } from '@phalanx/protocol';

type Attributes = ReadonlyMap<string, string>;

/** An XML element as a node. The names differ a little between UiAutomator2 and `uiautomator dump`. */
export function toUiNode(elementName: string, attributes: Attributes): UiNode {
  const text = (name: string): string | null => attributes.get(name) || null;
  const flag = (name: string): boolean => attributes.get(name) === 'true';
  return {
    className: text('class') ?? (elementName === 'node' ? null : elementName),
    packageName: attributes.get('package') ?? '',
    viewId: text('resource-id'),
    text: isReadable(attributes) ? text('text') : dots(attributes.get('text')),
    description: text('content-desc'),
    hintText: text('hint'),
    tooltipText: text('tooltip-text'),
    paneTitle: text('pane-title'),
    containerTitle: text('container-title'),
    index: integer(attributes.get('index'), 0),
    boundsInScreen: parseBounds(attributes.get('bounds')),
    maxTextLength: integer(attributes.get('max-text-length'), -1),
    inputType: attributes.get('input-type') ?? '',
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
    visible: (attributes.get('displayed') ?? attributes.get('visible-to-user')) !== 'false',
    children: [],
  };
}

/** Android tells dots of a password; apps that draw their fields themselves may tell all of it. Dumps don't tell hints apart. */
const isReadable = (attributes: Attributes): boolean =>
  attributes.get('password') !== 'true' || attributes.get('showing-hint') !== 'false';

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

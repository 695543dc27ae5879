/** Node of a tree as sent by a host, with the fields that the compact form needs. */
export interface ShownNode {
  readonly kind: string;
  readonly className: string;
  /** Name in the node's resource ID; empty without one. */
  readonly id: string;
  /** Full resource ID. */
  readonly viewId: string;
  readonly label: string;
  /** Text and description as the phone reports them, complete. Empty for a password field. */
  readonly said: readonly string[];
  /** Hint of a field, whatever was typed into it. */
  readonly hint: string;
  readonly isField: boolean;
  /** `on` or `off`; empty for a node that can't be checked. */
  readonly checked: string;
  /** Position of the node on the screen. */
  readonly place: string;
  readonly states: readonly string[];
  readonly isTouchable: boolean;
  readonly isScroller: boolean;
  readonly isVisible: boolean;
  readonly children: readonly unknown[];
}

const maxTextLength = 80;
/** Characters that would change the writing direction. */
const turning = /[\u202A-\u202E\u2066-\u2069]/g;
/** Characters that would end a line. */
// oxlint-disable-next-line no-control-regex -- the pattern detects control characters
const unprintable = /[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g;

export function shortText(text: string): string {
  // Counts code points: a cut between the halves of a surrogate pair would leave no valid character.
  const letters = Array.from(
    text
      .slice(0, 4 * maxTextLength)
      .replaceAll(turning, '')
      .replaceAll(unprintable, ' ')
      .trim(),
  );
  return letters.length <= maxTextLength
    ? letters.join('')
    : `${letters.slice(0, maxTextLength - 1).join('')}…`;
}

/** Kinds of nodes by the end of their class. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/(EditText|AutoCompleteTextView)$/, 'field'],
  [/(Switch|SwitchCompat|ToggleButton)$/, 'switch'],
  [/CheckBox$/, 'checkbox'],
  [/RadioButton$/, 'radio'],
  [/(Button|Chip)$/, 'button'],
  [/SeekBar$/, 'slider'],
  [/ProgressBar$/, 'progress'],
  [/Spinner$/, 'dropdown'],
  [/ImageView$/, 'image'],
  [/WebView$/, 'web'],
  [/(TextView|TextClock)$/, 'text'],
];

/** Converts a value to a node. Hosts are not trusted, so a tree may contain anything. */
export function shownNode(value: unknown): ShownNode {
  const fields = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const text = (name: string): string => {
    const found = fields.get(name);
    return typeof found === 'string' ? shortText(found) : '';
  };
  const is = (name: string): boolean => fields.get(name) === true;
  const whole = (...names: readonly string[]): string[] =>
    names.flatMap((name) => {
      const found = fields.get(name);
      return typeof found === 'string' && found !== '' ? [found] : [];
    });
  const children = fields.get('children');
  const isField = kindOf(text('className'), false) === 'field';
  return {
    kind: kindOf(text('className'), is('scrollable')),
    className: text('className'),
    id: text('viewId').split('/').at(-1) ?? '',
    viewId: text('viewId'),
    hint: text('hintText') || (is('password') ? '' : text('description')),
    isField,
    checked: is('checkable') ? (is('checked') ? 'on' : 'off') : '',
    place: placeOf(fields.get('boundsInScreen')),
    label: is('password') ? text('hintText') : text('text') || text('description') || text('hintText'),
    said: is('password') ? whole('hintText') : saidOf(whole('text', 'description'), whole('hintText')),
    states: statesOf(is, fields.get('enabled') === false),
    isTouchable: is('clickable') || is('longClickable') || is('checkable') || isField || is('password'),
    isScroller: is('scrollable'),
    isVisible: fields.get('visible') !== false,
    children: Array.isArray(children) ? children : [],
  };
}

/** Returns the texts, or the hints when there are no texts. */
const saidOf = (texts: string[], hints: string[]): string[] => (texts.length > 0 ? texts : hints);

const placeOf = (bounds: unknown): string =>
  typeof bounds === 'object' && bounds !== null ? Object.values(bounds).slice(0, 4).join(',') : '';

const kindOf = (className: string, isScrollable: boolean): string =>
  kinds.find(([form]) => form.test(className))?.[1] ?? (isScrollable ? 'list' : 'item');

const statesOf = (is: (name: string) => boolean, isDisabled: boolean): string[] => [
  ...(is('checkable') ? [is('checked') ? 'on' : 'off'] : []),
  ...(isDisabled ? ['disabled'] : []),
  ...['selected', 'focused', 'password'].filter(is),
  ...(is('scrollable') ? ['scroll'] : []),
];

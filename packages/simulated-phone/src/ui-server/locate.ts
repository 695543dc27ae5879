import { type VisibleView, walk } from '../view/view.ts';
import { sourceAttributes, elementName } from '../screen/source-xml.ts';
import { WebDriverError } from './web-driver-error.ts';

type Attributes = Record<string, string | undefined>;
type Test = (attributes: Attributes) => boolean;

const equals =
  (name: string) =>
  (value: string): Test =>
  (attributes) =>
    attributes[name] === value;
const contains =
  (name: string) =>
  (value: string): Test =>
  (attributes) =>
    (attributes[name] ?? '').toLowerCase().includes(value.toLowerCase());
const startsWith =
  (name: string) =>
  (value: string): Test =>
  (attributes) =>
    (attributes[name] ?? '').toLowerCase().startsWith(value.toLowerCase());

const methods: ReadonlyMap<string, (value: string) => Test> = new Map([
  ['text', equals('text')],
  ['textContains', contains('text')],
  ['textStartsWith', startsWith('text')],
  ['description', equals('content-desc')],
  ['descriptionContains', contains('content-desc')],
  ['descriptionStartsWith', startsWith('content-desc')],
  ['resourceId', equals('resource-id')],
  ['className', equals('class')],
  ['packageName', equals('package')],
  ['index', equals('index')],
  ...['checkable', 'checked', 'clickable', 'enabled', 'focusable', 'focused', 'scrollable', 'selected'].map(
    (name): [string, (value: string) => Test] => [name, equals(name)],
  ),
  ['longClickable', equals('long-clickable')],
]);

const call = /\s*\.\s*(\w+)\s*\(\s*(?:"((?:[^"\\]|\\.)*)"|(true|false|\d+))\s*\)/y;

/** The chains of `new UiSelector()` without regular expressions and without child selectors. */
function parseUiSelector(source: string): (all: readonly VisibleView[]) => VisibleView[] {
  const trimmed = source.trim().replace(/;$/, '');
  const start = /^new\s+UiSelector\s*\(\s*\)/.exec(trimmed)?.[0];
  if (start === undefined)
    throw new WebDriverError('invalid selector', `Could not parse UiSelector: ${source}`);
  const tests: Test[] = [];
  let instance: number | undefined;
  call.lastIndex = start.length;
  while (call.lastIndex < trimmed.length) {
    const [, name = '', quoted, plain = ''] = call.exec(trimmed) ?? [];
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    const method = methods.get(name);
    if (name === 'instance') instance = Number(value);
    else if (method) tests.push(method(value));
    else
      throw new WebDriverError(
        'invalid selector',
        `UiSelector has no method that this phone knows here: ${source}`,
      );
  }
  return (all) => {
    const found = all.filter((visible) => {
      const attributes = sourceAttributes(visible, 0);
      return tests.every((test) => test(attributes));
    });
    return instance === undefined ? found : found.slice(instance, instance + 1);
  };
}

/** All matches in document order. Throws "invalid selector". */
export function locateAll(root: VisibleView, strategy: string, selector: string): VisibleView[] {
  const all = () => walk(root).toArray();
  const packageName = root.view.packageName;
  switch (strategy) {
    case 'id': {
      // A short id is of the app in front.
      const id = selector.includes(':id/') ? selector : `${packageName}:id/${selector}`;
      return all().filter(({ view }) => view.resourceId === id);
    }
    case 'accessibility id':
      return all().filter(({ view }) => view.description === selector);
    case 'class name':
      return all().filter(({ view }) => view.className === selector);
    case 'text':
      return all().filter(({ view }) => view.text === selector);
    case 'xpath':
      return findByXPath(root, selector);
    case '-android uiautomator':
      return parseUiSelector(selector)(all());
    default:
      throw new WebDriverError('invalid selector', `Locator strategy '${strategy}' is not supported`);
  }
}

const token = /\s*(\/\/|!=|starts-with|[A-Za-z_][\w.-]*|\d+|"[^"]*"|'[^']*'|[/@*[\]()=,])/y;
const maxLength = 2000;
const maxDepth = 20;
const maxSteps = 30;

interface Context {
  readonly attributes: Attributes;
  /** Counted from 1, as XPath does. */
  readonly position: number;
  readonly last: number;
}

function valueOf(value: Value, { attributes }: Context): string {
  return value.kind === 'attribute' ? (attributes[value.name] ?? '') : value.text;
}

function holds(predicate: Predicate, context: Context): boolean {
  switch (predicate.kind) {
    case 'position':
      return context.position === predicate.position;
    case 'last':
      return context.position === context.last;
    case 'exists':
      return context.attributes[predicate.name] !== undefined;
    case 'compare': {
      const isEqual = valueOf(predicate.left, context) === valueOf(predicate.right, context);
      return isEqual === predicate.isEqual;
    }
    case 'contains':
      return valueOf(predicate.left, context).includes(valueOf(predicate.right, context));
    case 'starts-with':
      return valueOf(predicate.left, context).startsWith(valueOf(predicate.right, context));
    case 'not':
      return !holds(predicate.inner, context);
    case 'and':
      return predicate.parts.every((part) => holds(part, context));
    default:
      return predicate.parts.some((part) => holds(part, context));
  }
}

function matchStep(candidates: readonly VisibleView[], step: Step): VisibleView[] {
  let matches = candidates.filter(
    ({ view }) => step.name === '*' || step.name === elementName(view.className),
  );
  for (const predicate of step.predicates) {
    const last = matches.length;
    matches = matches.filter((visible, index) =>
      holds(predicate, { attributes: sourceAttributes(visible, index), position: index + 1, last }),
    );
  }
  return matches;
}

/** The real root is above the window's: `/hierarchy`. */
function topOf(root: VisibleView): VisibleView {
  const view = { className: 'hierarchy', packageName: '', frame: root.bounds };
  return { view, bounds: root.bounds, children: [root] };
}

/** Matches in document order. Throws "invalid selector". */
function findByXPath(root: VisibleView, xpath: string): VisibleView[] {
  const top = topOf(root);
  let current: VisibleView[] = [{ ...top, children: [top] }];
  for (const step of parseXPath(xpath)) {
    const next = new Set<VisibleView>();
    for (const start of current) {
      // "//x[1]" is the first x of each parent, as in XPath.
      const parents = step.isDeep ? walk(start).toArray() : [start];
      for (const parent of parents) for (const match of matchStep(parent.children, step)) next.add(match);
    }
    current = [...next];
  }
  const order = walk(root).toArray();
  return order.filter((visible) => current.includes(visible));
}

type Value =
  | { readonly kind: 'attribute'; readonly name: string }
  | { readonly kind: 'literal'; readonly text: string };

type Predicate =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'last' }
  | { readonly kind: 'exists'; readonly name: string }
  | { readonly kind: 'compare'; readonly left: Value; readonly right: Value; readonly isEqual: boolean }
  | { readonly kind: 'contains' | 'starts-with'; readonly left: Value; readonly right: Value }
  | { readonly kind: 'not'; readonly inner: Predicate }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Predicate[] };

interface Step {
  /** After `//`: at any depth. */
  readonly isDeep: boolean;
  readonly name: string;
  readonly predicates: readonly Predicate[];
}

class Parser {
  readonly #source: string;
  readonly #tokens: string[] = [];
  #index = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    if (source.length > maxLength) throw this.#error();
    token.lastIndex = 0;
    const end = source.trimEnd().length;
    while (token.lastIndex < end) {
      const match = token.exec(source)?.[1];
      if (match === undefined) throw this.#error();
      this.#tokens.push(match);
    }
  }

  steps(): Step[] {
    const steps: Step[] = [];
    while (this.#index < this.#tokens.length) {
      const isDeep = this.#take('//');
      if (!isDeep && !this.#take('/') && steps.length > 0) throw this.#error();
      const name = this.#next();
      if (!/^(?:\*|[A-Za-z_].*)$/.test(name)) throw this.#error();
      const predicates: Predicate[] = [];
      while (this.#take('[')) {
        predicates.push(this.#either());
        this.#expect(']');
      }
      steps.push({ isDeep, name, predicates });
    }
    if (steps.length === 0 || steps.length > maxSteps) throw this.#error();
    return steps;
  }

  #either(): Predicate {
    const parts = [this.#both()];
    while (this.#take('or')) parts.push(this.#both());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'or', parts };
  }

  #both(): Predicate {
    const parts = [this.#single()];
    while (this.#take('and')) parts.push(this.#single());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'and', parts };
  }

  #single(): Predicate {
    if (++this.#depth > maxDepth) throw this.#error();
    const predicate = this.#call() ?? this.#comparison();
    this.#depth--;
    return predicate;
  }

  #call(): Predicate | undefined {
    const name = this.#tokens[this.#index];
    if (name === '(') return this.#inParentheses();
    if (this.#tokens[this.#index + 1] !== '(') return undefined;
    this.#index++;
    if (name === 'not') return { kind: 'not', inner: this.#inParentheses() };
    this.#expect('(');
    if (name === 'last' && this.#take(')')) return { kind: 'last' };
    if (name !== 'contains' && name !== 'starts-with') throw this.#error();
    const left = this.#value();
    this.#expect(',');
    const right = this.#value();
    this.#expect(')');
    return { kind: name, left, right };
  }

  #inParentheses(): Predicate {
    this.#expect('(');
    const inner = this.#either();
    this.#expect(')');
    return inner;
  }

  #comparison(): Predicate {
    if (/^\d+$/.test(this.#tokens[this.#index] ?? ''))
      return { kind: 'position', position: Number(this.#next()) };
    const left = this.#value();
    const isEqual = this.#take('=');
    if (isEqual || this.#take('!=')) return { kind: 'compare', left, right: this.#value(), isEqual };
    if (left.kind === 'attribute') return { kind: 'exists', name: left.name };
    throw this.#error();
  }

  #value(): Value {
    if (this.#take('@')) return { kind: 'attribute', name: this.#next() };
    const text = this.#next();
    if (!/^["']/.test(text)) throw this.#error();
    return { kind: 'literal', text: text.slice(1, -1) };
  }

  #next(): string {
    const found = this.#tokens[this.#index++];
    if (found === undefined) throw this.#error();
    return found;
  }

  #take(text: string): boolean {
    const isThere = this.#tokens[this.#index] === text;
    if (isThere) this.#index++;
    return isThere;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#error();
  }

  #error(): WebDriverError {
    return new WebDriverError(
      'invalid selector',
      `This phone does not understand the XPath: ${this.#source.slice(0, 200)}`,
    );
  }
}

/** Absolute paths with attribute predicates: what drivers send. Throws "invalid selector". */
function parseXPath(source: string): Step[] {
  return new Parser(source).steps();
}

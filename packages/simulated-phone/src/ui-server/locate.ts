import { type VisibleView, walk } from '../view/find-view.ts';
import { sourceAttributes } from '../screen/source-xml.ts';
import { findByXPath } from './xpath.ts';
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

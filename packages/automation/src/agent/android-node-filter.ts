import { hasViewId } from './node-search.ts';

type Condition = (node: AndroidNode) => boolean;

/** The conditions of a filter are kept beside it, so that its object holds methods alone. */
const conditionsOf = new WeakMap<AndroidNodeFilter, readonly Condition[]>();

export function createFilter(conditions: readonly Condition[] = []): AndroidNodeFilter {
  const and = (condition: Condition): AndroidNodeFilter => createFilter([...conditions, condition]);
  const filter = {
    ...classConditions(and),
    ...stateConditions(and),
    ...textConditions(and),
    ...groupConditions(and),
  };
  conditionsOf.set(filter, conditions);
  return filter;
}

/** Whether the node meets every condition of the filter. */
export function meets(filter: AndroidNodeFilter, node: AndroidNode): boolean {
  const conditions = conditionsOf.get(filter);
  if (conditions === undefined)
    throw new TypeError('A filter function must give back the filter it got: f => f.isEditText().');
  return conditions.every((condition) => condition(node));
}

type And = (condition: Condition) => AndroidNodeFilter;

function classConditions(and: And) {
  const ofClass = (pattern: RegExp) => () => and(({ className }) => pattern.test(lastPart(className)));
  return {
    isButton: ofClass(/(?<!Radio)Button$/),
    isEditText: ofClass(/(EditText|AutoCompleteTextView)$/),
    isTextView: ofClass(/(?<!AutoComplete)TextView$/),
    isImage: ofClass(/Image(View|Button)?$/),
    isCheckBox: ofClass(/CheckBox$/),
    isRadioButton: ofClass(/RadioButton$/),
    isSwitch: ofClass(/Switch(Compat)?$/),
    isWebView: ofClass(/WebView$/),
    hasClass: (name: string) => and(({ className }) => className === name || lastPart(className) === name),
    hasPackage: (name: string) => and(({ packageName }) => packageName === name),
  };
}

function stateConditions(and: And) {
  return {
    isClickable: () => and((node) => node.clickable),
    isLongClickable: () => and((node) => node.isLongClickable),
    isEnabled: () => and((node) => node.isEnabled),
    isCheckable: () => and((node) => node.isCheckable),
    isChecked: () => and((node) => node.isChecked),
    isFocusable: () => and((node) => node.isFocusable),
    isFocused: () => and((node) => node.isFocused),
    isPassword: () => and((node) => node.isPassword),
    isScrollable: () => and((node) => node.isScrollable),
    isSelected: () => and((node) => node.isSelected),
    isVisible: () => and((node) => node.isVisible),
    hasChildren: () => and((node) => node.children.length > 0),
  };
}

function textConditions(and: And) {
  return {
    hasText: (text?: string) => and((node) => isOrAny(node.text, text)),
    textContains: (part: string) => and((node) => containsText(node.text, part)),
    textMatches: (pattern: RegExp) => and(({ text }) => text !== undefined && text.search(pattern) >= 0),
    hasDescription: (text?: string) => and((node) => isOrAny(node.description, text)),
    descriptionContains: (part: string) => and((node) => containsText(node.description, part)),
    hasId: (viewId?: string) =>
      and((node) => (viewId === undefined ? node.viewId !== undefined : hasViewId(node, viewId))),
  };
}

function groupConditions(and: And) {
  type Build = (filter: AndroidNodeFilter) => AndroidNodeFilter;
  return {
    where: (condition: Condition) => and((node) => Boolean(condition(node))),
    not(build: Build) {
      const filter = build(createFilter());
      return and((node) => !meets(filter, node));
    },
    anyOf(...builds: Build[]) {
      const filters = builds.map((build) => build(createFilter()));
      return and((node) => filters.some((filter) => meets(filter, node)));
    },
  };
}

function lastPart(className: string | null): string {
  return className === null ? '' : className.slice(className.lastIndexOf('.') + 1);
}

function isOrAny(value: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined ? value !== undefined && value !== '' : value === wanted;
}

function containsText(value: string | undefined, part: string): boolean {
  return value !== undefined && value.toLowerCase().includes(part.toLowerCase());
}

const states = [
  ['clickable', 'clickable'],
  ['isLongClickable', 'long-clickable'],
  ['isCheckable', 'checkable'],
  ['isChecked', 'checked'],
  ['isFocusable', 'focusable'],
  ['isFocused', 'focused'],
  ['isPassword', 'password'],
  ['isScrollable', 'scrollable'],
  ['isSelected', 'selected'],
] as const satisfies readonly (readonly [keyof AndroidNode, string])[];

/**
 * Returns states of a node, such as `clickable`, named as in Android's own dumps; `invisible` and `disabled` come
 * first.
 */
export const nodeStates = (node: AndroidNode): string[] => [
  ...(node.isVisible ? [] : ['invisible']),
  ...(node.isEnabled ? [] : ['disabled']),
  ...states.filter(([name]) => node[name]).map(([, word]) => word),
];

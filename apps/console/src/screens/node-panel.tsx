import { useMemo } from 'react';

import { CopyButton } from '../parts/copy.tsx';
import styles from './inspector.module.css';
import { selectorsOf, type Selector } from './selectors.ts';

const flags = [
  ['clickable', 'clickable'],
  ['isLongClickable', 'long-clickable'],
  ['isCheckable', 'checkable'],
  ['isChecked', 'checked'],
  ['isFocusable', 'focusable'],
  ['isFocused', 'focused'],
  ['isPassword', 'password'],
  ['isScrollable', 'scrollable'],
  ['isSelected', 'selected'],
] as const;

function attributesOf(node: AndroidNode): [name: string, value: string][] {
  const { left, top, right, bottom } = node.boundsInScreen;
  const on = flags.filter(([name]) => node[name]).map(([, word]) => word);
  const all: [string, string | null | undefined][] = [
    ['class', node.className],
    ['id', node.viewId],
    ['text', node.text],
    ['description', node.description],
    ['hint', node.hintText],
    ['pane', node.paneTitle],
    ['package', node.packageName],
    ['bounds', `${left},${top} – ${right},${bottom}`],
    ['size', `${right - left} × ${bottom - top}`],
    [
      'is',
      [...(node.isVisible ? [] : ['invisible']), ...(node.isEnabled ? [] : ['disabled']), ...on].join(', '),
    ],
    ['children', String(node.children.length)],
  ];
  return all.flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, value]],
  );
}

/** What is known of a node, and the code that finds it. */
export function NodePanel({ root, node }: { root: AndroidNode; node: AndroidNode }) {
  const selectors = useMemo(() => selectorsOf(root, node), [root, node]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles['node']} tabIndex={0} role="region" aria-label="Node">
      <section>
        <h3>Selectors, tried on this screen</h3>
        {selectors.length === 0 && (
          <p className={styles['none']}>
            It has neither an ID nor a text: choose a node around it, or one inside.
          </p>
        )}
        {selectors.map((selector) => (
          <SelectorBox key={selector.kind} selector={selector} />
        ))}
      </section>
      <section>
        <h3>Attributes</h3>
        <dl className={styles['attributes']}>
          {attributesOf(node).map(([name, value]) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}

const SelectorBox = ({ selector: { code, count, isHit, kind } }: { selector: Selector }) => (
  <div className={styles['selector']}>
    <code>{code}</code>
    <CopyButton text={code} label={`Copy the selector by ${kind}`} />
    <span className={styles['proof']} data-good={isHit && count === 1}>
      {isHit && count === 1
        ? '✓ finds this node alone'
        : isHit
          ? `▲ finds this node first, of ${count}`
          : `▲ finds another node first, of ${count}`}
    </span>
  </div>
);

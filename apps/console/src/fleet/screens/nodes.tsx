import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, type KeyboardEvent } from 'react';
import { nodeStates } from '@phalanx/automation/node-states';
import { comparedText } from '@phalanx/automation/seen-text';
import { proposeSelectors, type SelectorProposal } from '@phalanx/automation/selectors';

import styles from './inspector.module.css';
import { labelOf, shortClass, shortId, type TreeRow } from './screen-tree.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { classNames } from '../../parts/class-names.ts';

export interface Pointed {
  rows: readonly TreeRow[];
  hovered: number | undefined;
  matches: ReadonlySet<number>;
  onChoose: (index: number | undefined) => void;
  onHover: (index: number | undefined) => void;
}

/** Returns the indexes of nodes that contain a text in any attribute. */
export function useMatches(rows: readonly TreeRow[], search: string): ReadonlySet<number> {
  return useMemo(() => {
    const text = comparedText(search);
    if (text === '') return new Set<number>();
    const found = rows.filter(({ node }) =>
      [node.text, node.description, node.viewId, node.className, node.hintText].some((part) =>
        comparedText(part ?? '').includes(text),
      ),
    );
    return new Set(found.map(({ index }) => index));
  }, [rows, search]);
}

const rowHeight = 24;

/** Nodes of a screen as a tree list. */
export function NodeTree({
  subject,
  rows,
  chosen,
  hovered,
  matches,
  onChoose,
  onHover,
}: Pointed & { subject: string | undefined; chosen: number | undefined }) {
  const scroll = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  useEffect(() => {
    // Skips needless scrolling, which forces a layout in the frame that should show the record.
    if ((list.scrollOffset ?? 0) > 0) list.scrollToOffset(0);
  }, [list, subject]);
  const firstMatch = matches.values().next().value;
  useEffect(() => {
    if (chosen !== undefined) list.scrollToIndex(chosen, { align: 'auto' });
  }, [list, chosen]);
  useEffect(() => {
    if (firstMatch !== undefined) list.scrollToIndex(firstMatch, { align: 'center' });
  }, [list, firstMatch]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = chosen ?? -1;
    const depth = rows[at]?.depth ?? 0;
    const parent = rows.findLastIndex((row, index) => index < at && row.depth < depth);
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: parent,
      ArrowRight: at + 1,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (next === undefined || next < 0 || next >= rows.length) return;
    event.preventDefault();
    onChoose(next);
  };
  return (
    <div
      ref={scroll}
      className={styles['tree']}
      role="tree"
      aria-label="Accessibility tree"
      tabIndex={0}
      aria-activedescendant={chosen === undefined ? undefined : `node-${chosen}`}
      onKeyDown={onKeyDown}
    >
      <div className={styles['virtual']} role="presentation" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the tree has the keys
              <div
                key={index}
                id={`node-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-selected={index === chosen}
                data-hover={index === hovered}
                data-match={matches.has(index)}
                data-visible={row.node.isVisible}
                className={styles['row']}
                style={{ top: start, paddingLeft: 10 + row.depth * 12 }}
                onClick={() => onChoose(index)}
                onPointerEnter={() => onHover(index)}
                onPointerLeave={() => onHover(undefined)}
              >
                <Name node={row.node} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function Name({ node }: { node: AndroidNode }) {
  const [id, label] = [shortId(node), labelOf(node)];
  return (
    <>
      <span className={styles['class']}>{shortClass(node)}</span>
      {id !== undefined && <span className={styles['id']}>#{id}</span>}
      {label !== undefined && <span className={styles['text']}>“{label}”</span>}
    </>
  );
}

function attributesOf(node: AndroidNode): [name: string, value: string][] {
  const { left, top, right, bottom } = node.boundsInScreen;
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
    ['is', nodeStates(node).join(', ')],
    ['children', String(node.children.length)],
  ];
  return all.flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, value]],
  );
}

/** Attributes of a node and the selectors that find it. */
export const NodePanel = ({ node }: { node: AndroidNode }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
  <div className={styles['node']} tabIndex={0} role="region" aria-label="Node">
    <section>
      <h3>Selectors, tested on this screen</h3>
      <SelectorList node={node} />
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

interface SelectorListProps {
  node: AndroidNode;
  /** Inserts code into the editor. Without it, the code can only be copied. */
  onInsert?: (code: string) => void;
  /** Reason why the code can't be inserted. */
  reason?: string | undefined;
}

/** Selectors that find a node, the most stable first. */
export function SelectorList({ node, onInsert, reason }: SelectorListProps) {
  const proposals = useMemo(() => proposeSelectors(node), [node]);
  if (proposals.length === 0)
    return (
      <p className={styles['none']}>
        Nothing distinguishes this node. Choose the node around it, or one inside it.
      </p>
    );
  return proposals.map((proposal) => (
    <div key={proposal.wait} className={styles['selector']}>
      <code>{proposal.wait}</code>
      <span className={styles['uses']}>
        {onInsert !== undefined && (
          <Button
            reason={reason}
            aria-label={`Insert the code that finds it by ${proposal.kind}`}
            onClick={() => onInsert(proposal.code)}
          >
            Insert
          </Button>
        )}
        <CopyButton text={proposal.code} label={`Copy the code that finds it by ${proposal.kind}`} />
      </span>
      <span className={styles['proof']} data-good={isLasting(proposal)}>
        {isLasting(proposal) ? '✓' : '▲'} {proofOf(proposal)}
      </span>
    </div>
  ));
}

const isLasting = ({ finds, dependsOn }: SelectorProposal): boolean =>
  dependsOn === undefined && (finds === 'alone' || finds === 'nearest');

function proofOf({ finds, count, dependsOn }: SelectorProposal): string {
  if (finds === 'another') return `finds another node first, of ${count}`;
  if (dependsOn === 'state') return 'finds this node only in its current state';
  if (dependsOn === 'order') return 'finds this node by its position, which may change';
  if (finds === 'first') return `finds this node first, of ${count}`;
  return finds === 'alone' ? 'finds only this node' : `finds this node as the nearest of ${count}`;
}

const maxMatches = 100;

interface NodeBoxesProps {
  rows: readonly TreeRow[];
  chosen: TreeRow | undefined;
  hovered: number | undefined;
  matches: ReadonlySet<number>;
  /** Width and height of the screen in pixels. */
  width: number;
  height: number;
}

/** Outlines of nodes over a picture of their screen. */
export function NodeBoxes({ rows, chosen, hovered, matches, width, height }: NodeBoxesProps) {
  const boxes: readonly (readonly [TreeRow | undefined, string | undefined])[] = [
    ...[...matches].slice(0, maxMatches).map((index) => [rows[index], styles['match']] as const),
    [hovered === undefined ? undefined : rows[hovered], styles['hover']],
    [chosen, styles['chosen']],
  ];
  return boxes.map(
    ([row, look]) =>
      row !== undefined && (
        <div
          key={`${row.index} ${look}`}
          className={classNames(styles['box'], look)}
          style={placeOf(row, width, height)}
        />
      ),
  );
}

function placeOf({ node }: TreeRow, width: number, height: number) {
  const { left, top, right, bottom } = node.boundsInScreen;
  const part = (value: number, of: number): string => `${(value / of) * 100}%`;
  return {
    left: part(left, width),
    top: part(top, height),
    width: part(right - left, width),
    height: part(bottom - top, height),
  };
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, type KeyboardEvent } from 'react';

import styles from './inspector.module.css';
import { labelOf, shortClass, shortId, type TreeRow } from './screen-tree.ts';

export interface Pointed {
  rows: readonly TreeRow[];
  hovered: number | undefined;
  matches: ReadonlySet<number>;
  onChoose: (index: number | undefined) => void;
  onHover: (index: number | undefined) => void;
}

/** The nodes that have a text somewhere. */
export function useMatches(rows: readonly TreeRow[], search: string): ReadonlySet<number> {
  return useMemo(() => {
    const text = search.trim().toLowerCase();
    if (text === '') return new Set<number>();
    const found = rows.filter(({ node }) =>
      [node.text, node.description, node.viewId, node.className, node.hintText].some(
        (part) => part?.toLowerCase().includes(text) === true,
      ),
    );
    return new Set(found.map(({ index }) => index));
  }, [rows, search]);
}

const rowHeight = 24;

/** The nodes of a screen as a list. */
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
    // Scrolling makes the browser lay the page out, in the frame in which the record is to appear.
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

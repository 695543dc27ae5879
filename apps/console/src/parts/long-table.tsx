import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';

import { keep, keptValue } from './kept.ts';
import { useKeys } from './keys.tsx';
import { rowHeight } from './row.ts';
import {
  type Column,
  type RowSelection,
  TableHead,
  type TableProps,
  TableRow,
  type TableSort,
  tracksOf,
} from './table.tsx';
import styles from './table.module.css';

interface LongTableProps<Row> extends TableProps<Row> {
  onOpen: (row: Row) => void;
  selection?: RowSelection<Row>;
  sort?: TableSort;
  /** Called when the last row scrolls into view. */
  onEnd?: () => void;
  /** Whether further rows can be loaded. */
  hasMore?: boolean;
}

/** Height in pixels of the sticky header, which covers scrolled rows. */
const headHeight = 30;
/** Number of longest texts per column to measure: the text with the most characters is not always the widest. */
const measuredTexts = 6;

/**
 * Virtualized list that fills its container and renders only the rows in view. j, k and Enter navigate, x selects;
 * Back restores the scroll position.
 */
export function LongTable<Row>(props: LongTableProps<Row>) {
  const { label, columns, rows, keyOf, actions, onOpen, selection, sort, onEnd, hasMore = false } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
    estimateSize: rowHeight,
    overscan: 12,
    scrollPaddingEnd: headHeight,
    ...keptPlace(label),
  });
  const current = useListKeys(props);
  useEffect(() => {
    if (current >= 0) list.scrollToIndex(current);
  }, [list, current]);
  const items = list.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const isAtEnd = (last?.index ?? 0) >= rows.length - 1;
  useEffect(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, rows.length, onEnd]);
  const widest = useMemo(
    () => new Map(columns.map((column) => [column.header, widestTexts(column, rows)])),
    [columns, rows],
  );
  return (
    <div
      ref={scroll}
      className={styles['scroll']}
      onScroll={({ currentTarget }) =>
        keep(label, { offset: currentTarget.scrollTop, items: list.measurementsCache } satisfies Place)
      }
    >
      <div
        role={selection === undefined ? 'table' : 'grid'}
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        aria-multiselectable={selection === undefined ? undefined : true}
        className={styles['table']}
        data-cut=""
        style={{ gridTemplateColumns: tracksOf(columns, selection !== undefined, actions !== undefined) }}
      >
        <TableHead
          columns={columns}
          sort={sort}
          widest={widest}
          hasActions={actions !== undefined}
          box={
            selection === undefined ? undefined : <AllBox rows={rows} keyOf={keyOf} selection={selection} />
          }
        />
        <div
          role="rowgroup"
          className={styles['body']}
          style={{ paddingTop: first?.start ?? 0, paddingBottom: list.getTotalSize() - (last?.end ?? 0) }}
        >
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const id = keyOf(row);
            return (
              <TableRow
                key={id}
                row={row}
                id={id}
                columns={columns}
                actions={actions}
                onOpen={onOpen}
                selection={selection}
                index={index}
                isCut
                isCurrent={index === current}
                {...(selection !== undefined && { isSelected: selection.ids.has(id) })}
                measure={list.measureElement}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface Place {
  readonly offset: number;
  readonly items: VirtualItem[];
}

const isPlace = (value: unknown): value is Place =>
  typeof value === 'object' && value !== null && 'offset' in value && 'items' in value;

function keptPlace(label: string): { initialOffset?: number; initialMeasurementsCache?: VirtualItem[] } {
  const place = keptValue(label);
  return isPlace(place) ? { initialOffset: place.offset, initialMeasurementsCache: place.items } : {};
}

/** Returns the longest texts of a column, which reserve its width, so that it stays the same while rows scroll. */
function widestTexts<Row>({ text }: Column<Row>, rows: readonly Row[]): string {
  if (text === undefined) return '';
  const texts = [...new Set(rows.map(text))].toSorted((one, other) => other.length - one.length);
  return texts.slice(0, measuredTexts).join('\n');
}

function AllBox<Row>({
  rows,
  keyOf,
  selection: { ids, set, isLeftOut },
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection: RowSelection<Row>;
}) {
  const selectable = rows.filter((row) => isLeftOut?.(row) !== true).map(keyOf);
  const areAllSelected = selectable.length > 0 && selectable.every((id) => ids.has(id));
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      checked={areAllSelected}
      onChange={() => set(areAllSelected ? [] : selectable)}
    />
  );
}

/** Binds the list's shortcuts. Returns the index of the row with the keyboard cursor. */
function useListKeys<Row>({ rows, keyOf, selection, onOpen }: LongTableProps<Row>): number {
  const [current, setCurrent] = useState(-1);
  const at = Math.min(current, rows.length - 1);
  const row = rows[at];
  useKeys({
    j: () => setCurrent(Math.min(at + 1, rows.length - 1)),
    k: () => setCurrent(Math.max(at - 1, 0)),
    Enter: () => row !== undefined && onOpen(row),
    ...(selection !== undefined && {
      x: (event) => row !== undefined && selection.toggle(keyOf(row), event.shiftKey),
      Escape: () => selection.set([]),
    }),
  });
  return at;
}

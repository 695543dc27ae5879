import { memo, type CSSProperties, type ReactNode } from 'react';

import { classNames } from './class-names.ts';
import { openRow } from './row.ts';
import type { Selection } from './selection.ts';
import styles from './table.module.css';

interface ColumnBase<Row> {
  readonly header: string;
  /**
   * Width of the column.
   * `fit`: as wide as its widest content, never cut.
   * `grow`: at least `minimum` wide, up to all remaining space. Its text wraps; in a `LongTable` it is cut, and
   * hovering shows all of it.
   */
  readonly width: 'fit' | 'grow';
  /** Minimum width in pixels. */
  readonly minimum?: number;
  /** Whether the column names the row. A stacked row shows it as the first line. */
  readonly isMain?: boolean;
  readonly isNumber?: boolean;
  /** Whether the content is clear without the header, which a stacked row then omits. */
  readonly speaksForItself?: boolean;
  /** Name of the sort order that a click on the header requests. */
  readonly sort?: string;
  readonly content?: (row: Row) => ReactNode;
  readonly text?: (row: Row) => string;
}

/** Column with a text, or with richer content. A growing column of a `LongTable` always needs a text. */
export type Column<Row> = ColumnBase<Row> &
  ({ readonly content: (row: Row) => ReactNode } | { readonly text: (row: Row) => string });

export interface TableSort {
  readonly by: string | undefined;
  readonly isDescending: boolean;
  readonly onSort: (by: string) => void;
}

export interface RowSelection<Row> extends Selection {
  readonly nameOf: (row: Row) => string;
  /** Whether “Select all” skips the row. */
  readonly isLeftOut?: (row: Row) => boolean;
}

export interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Buttons at the end of each row, which stay in reach however wide the row is. */
  actions?: (row: Row) => ReactNode;
  /** Called when a row is clicked. A control in the row does the same for the keyboard. */
  onOpen?: (row: Row) => void;
}

const defaultMinimum = 96;

const trackOf = <Row,>({ width, minimum = defaultMinimum }: Column<Row>): string =>
  width === 'fit' ? 'max-content' : `minmax(${minimum}px, auto)`;

export function tracksOf<Row>(columns: readonly Column<Row>[], hasBox: boolean, hasActions: boolean): string {
  return [hasBox && '38px', ...columns.map(trackOf), hasActions && 'max-content'].filter(Boolean).join(' ');
}

/** Table with all of its rows, within a scrolling page or dialog. */
export function Table<Row>({
  label,
  isChosen,
  ...table
}: TableProps<Row> & {
  /** Whether the page shows the details of this row. */
  isChosen?: (row: Row) => boolean;
}) {
  const { columns, rows, keyOf, actions, onOpen } = table;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles['frame']} tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <div
        role="table"
        aria-label={label}
        className={styles['table']}
        style={{ gridTemplateColumns: tracksOf(columns, false, actions !== undefined) }}
      >
        <TableHead columns={columns} hasActions={actions !== undefined} />
        <div role="rowgroup" className={styles['body']}>
          {rows.map((row) => (
            <TableRow
              key={keyOf(row)}
              row={row}
              columns={columns}
              actions={actions}
              onOpen={onOpen}
              id={keyOf(row)}
              isCurrent={isChosen?.(row) ?? false}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface TableHeadProps<Row> {
  columns: readonly Column<Row>[];
  hasActions: boolean;
  /** Checkbox that selects all rows or none. */
  box?: ReactNode;
  sort?: TableSort | undefined;
  /** Widest texts by column header, whose width is reserved. */
  widest?: ReadonlyMap<string, string>;
}

export const TableHead = <Row,>({ columns, hasActions, box, sort, widest }: TableHeadProps<Row>) => (
  <div role="rowgroup" className={classNames(styles['group'], styles['head'])}>
    <div role="row" aria-rowindex={1} className={classNames(styles['row'], styles['headRow'])}>
      {box !== undefined && (
        <div role="columnheader" className={classNames(styles['cell'], styles['box'])}>
          {box}
        </div>
      )}
      {columns.map((column) => (
        <div
          key={column.header}
          role="columnheader"
          {...layoutOf(column)}
          data-widest={widest?.get(column.header)}
          data-sort={column.sort}
          aria-sort={column.sort === undefined || sort === undefined ? undefined : orderOf(column.sort, sort)}
        >
          {column.sort === undefined || sort === undefined ? (
            column.header
          ) : (
            <SortButton header={column.header} by={column.sort} sort={sort} />
          )}
        </div>
      ))}
      {hasActions && (
        <div role="columnheader" className={classNames(styles['cell'], styles['actions'])}>
          <span className="visually-hidden">Actions</span>
        </div>
      )}
    </div>
  </div>
);

function orderOf(by: string, sort: TableSort): 'none' | 'ascending' | 'descending' {
  if (by !== sort.by) return 'none';
  return sort.isDescending ? 'descending' : 'ascending';
}

const arrows = { none: '↕', ascending: '↑', descending: '↓' } as const;

function SortButton({ header, by, sort }: { header: string; by: string; sort: TableSort }) {
  const order = orderOf(by, sort);
  return (
    <button type="button" className={styles['sort']} data-order={order} onClick={() => sort.onSort(by)}>
      {header} <span aria-hidden="true">{arrows[order]}</span>
    </button>
  );
}

const layoutOf = <Row,>({ width, minimum, isMain, isNumber, header, speaksForItself }: Column<Row>) => ({
  className: classNames(
    styles['cell'],
    isMain === true && styles['main'],
    isNumber === true && styles['number'],
  ),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own
  style: (minimum === undefined ? {} : { '--minimum': `${minimum}px` }) as CSSProperties,
  'data-width': width,
  'data-header': isMain === true || speaksForItself === true ? undefined : header,
});

interface TableRowProps<Row> {
  row: Row;
  id: string;
  columns: readonly Column<Row>[];
  actions?: ((row: Row) => ReactNode) | undefined;
  onOpen?: ((row: Row) => void) | undefined;
  /** Whether the row has the keyboard cursor or its details are on display. */
  isCurrent: boolean;
  /** Whether texts are cut to one line. */
  isCut?: boolean;
  /** Index of the row from 0, if only part of the rows is rendered. */
  index?: number;
  isSelected?: boolean;
  selection?: RowSelection<Row> | undefined;
  measure?: (element: HTMLElement | null) => void;
}

function PlainRow<Row>(props: TableRowProps<Row>) {
  const { row, id, columns, actions, onOpen, isCurrent, isCut = false, index } = props;
  const { isSelected, selection, measure } = props;
  const role = selection === undefined ? 'cell' : 'gridcell';
  return (
    // A control in the row does the same for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      ref={measure}
      role="row"
      className={styles['row']}
      data-index={index}
      data-current={isCurrent}
      data-opens={onOpen !== undefined}
      aria-rowindex={index === undefined ? undefined : index + 2}
      aria-selected={isSelected}
      onClick={onOpen === undefined ? undefined : openRow(() => onOpen(row))}
    >
      {selection !== undefined && (
        <div role={role} className={classNames(styles['cell'], styles['box'])}>
          <input
            type="checkbox"
            aria-label={`Select ${selection.nameOf(row)}`}
            checked={isSelected === true}
            onChange={() => undefined}
            onClick={(event) => selection.toggle(id, event.shiftKey)}
          />
        </div>
      )}
      {columns.map((column) => (
        <div
          key={column.header}
          role={role}
          {...layoutOf(column)}
          title={isCut ? column.text?.(row) : undefined}
        >
          {column.content === undefined ? column.text?.(row) : column.content(row)}
        </div>
      ))}
      {actions !== undefined && (
        <div role={role} className={classNames(styles['cell'], styles['actions'])}>
          {actions(row)}
        </div>
      )}
    </div>
  );
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type of what is remembered knows no parameters
export const TableRow = memo(PlainRow) as typeof PlainRow;

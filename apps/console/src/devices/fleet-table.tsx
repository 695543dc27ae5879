import type { Device } from '@phalanx/protocol';
import { Link, useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useCallback, useMemo, useState } from 'react';

import { classNames } from '../parts/class-names.ts';
import { openRow, rowHeight } from '../parts/row.ts';
import { Age } from '../parts/time.tsx';
import { DeviceStateMark, reasonShown, deviceName, labelsText } from './device.tsx';
import type { FleetSort } from './fleet-search.ts';
import styles from './fleet.module.css';

interface FleetTableProps {
  devices: readonly Device[];
  selection: Selection;
  /** The row of the keyboard. */
  current: number;
  sort: FleetSort | undefined;
  onSort: (sort: FleetSort | undefined) => void;
}

const columns: readonly { label: string; sort?: FleetSort }[] = [
  { label: 'Phone', sort: 'name' },
  { label: 'Serial', sort: 'serial' },
  { label: 'State', sort: 'state' },
  { label: 'Since', sort: 'since' },
  { label: 'Reason' },
  { label: 'Labels' },
  { label: 'Host', sort: 'host' },
  { label: 'Android', sort: 'android' },
];

export function FleetTable({ devices, selection, current, sort, onSort }: FleetTableProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: devices.length,
    getScrollElement: () => scroll.current,
    estimateSize: rowHeight,
    overscan: 12,
  });
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current);
  }, [rows, current]);
  // Those that were not accepted are selected one by one.
  const selectable = devices.filter(({ accepted }) => accepted).map((device) => device.device_id);
  const areAllSelected = selectable.length > 0 && selectable.every((id) => selection.ids.has(id));
  return (
    <div ref={scroll} className={styles['scroll']}>
      <div role="grid" aria-label="Phones" aria-rowcount={devices.length + 1} aria-multiselectable="true">
        <div role="row" className={classNames(styles['row'], styles['head'])} aria-rowindex={1}>
          <span role="columnheader" className={styles['check']}>
            <input
              type="checkbox"
              aria-label="Select all"
              checked={areAllSelected}
              onChange={() => selection.set(areAllSelected ? [] : selectable)}
            />
          </span>
          {columns.map(({ label, sort: by }) => (
            <span
              key={label}
              role="columnheader"
              aria-sort={by === undefined ? undefined : by === sort ? 'ascending' : 'none'}
            >
              {by === undefined ? (
                label
              ) : (
                <button
                  type="button"
                  className={styles['sort']}
                  onClick={() => onSort(by === sort ? undefined : by)}
                >
                  {label}
                  {by === sort && <span aria-hidden="true"> ↓</span>}
                </button>
              )}
            </span>
          ))}
        </div>
        <div role="rowgroup" className={styles['virtual']} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => {
            const device = devices[index];
            return (
              device !== undefined && (
                <Row
                  key={device.device_id}
                  device={device}
                  index={index}
                  start={start}
                  isSelected={selection.ids.has(device.device_id)}
                  isCurrent={index === current}
                  toggle={selection.toggle}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  device: Device;
  index: number;
  start: number;
  isSelected: boolean;
  isCurrent: boolean;
  toggle: Selection['toggle'];
}

const Row = memo(function Row({ device, index, start, isSelected, isCurrent, toggle }: RowProps) {
  const name = deviceName(device);
  const navigate = useNavigate();
  return (
    // The name is the link for the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      role="row"
      onClick={openRow(
        () => void navigate({ to: '/devices/$deviceId', params: { deviceId: device.device_id } }),
      )}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-current={isCurrent}
      className={classNames(styles['row'], styles['placed'])}
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="gridcell" className={styles['check']}>
        <SelectBox device={device} isSelected={isSelected} toggle={toggle} />
      </span>
      <span role="gridcell">
        <Link to="/devices/$deviceId" params={{ deviceId: device.device_id }} className={styles['name']}>
          {name}
        </Link>
      </span>
      <span role="gridcell" className={styles['serial']}>
        {device.serial}
      </span>
      <span role="gridcell">
        <DeviceStateMark state={device.state} />
      </span>
      <span role="gridcell" className={styles['quiet']}>
        <Age since={device.since} />
      </span>
      <span role="gridcell" className={styles['quiet']} title={reasonShown(device)}>
        {reasonShown(device)}
      </span>
      <span role="gridcell" className={styles['quiet']} title={labelsText(device)}>
        {labelsText(device)}
      </span>
      <span role="gridcell" className={styles['quiet']}>
        {device.host?.name ?? '–'}
      </span>
      <span role="gridcell" className={styles['quiet']}>
        {device.android_version === '' ? '–' : device.android_version}
      </span>
    </div>
  );
});

export const SelectBox = ({
  device,
  isSelected,
  toggle,
}: Pick<RowProps, 'device' | 'isSelected' | 'toggle'>) => (
  <input
    type="checkbox"
    aria-label={`Select ${deviceName(device)} ${device.serial}`}
    checked={isSelected}
    onChange={() => undefined}
    onClick={(event) => toggle(device.device_id, event.shiftKey)}
  />
);

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** With `isRange`, all between this row and the one that was changed last. */
  readonly toggle: (id: string, isRange: boolean) => void;
  readonly set: (ids: readonly string[]) => void;
}

/** Which rows of a list are chosen. */
export function useSelection(rows: readonly string[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string>();
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      const [from, to] = [rows.indexOf(last ?? id), rows.indexOf(id)];
      const touched = isRange && from >= 0 ? rows.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
      setIds((known) => {
        const next = new Set(known);
        const isOn = !known.has(id);
        for (const one of touched)
          if (isOn) next.add(one);
          else next.delete(one);
        return next;
      });
      setLast(id);
    },
    [rows, last],
  );
  const set = useCallback((all: readonly string[]) => setIds(new Set(all)), []);
  return useMemo(() => ({ ids, toggle, set }), [ids, toggle, set]);
}

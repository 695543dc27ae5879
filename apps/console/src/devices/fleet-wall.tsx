import { type Device, wholeScreen } from '@phalanx/protocol';
import { useQuery, queryOptions } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, useState } from 'react';

import { call } from '../api/call.ts';
import { Age } from '../parts/time.tsx';
import { deviceName } from './device-name.ts';
import { DeviceStateMark, isReady } from './device-state.tsx';
import { SelectBox } from './fleet-table.tsx';
import styles from './fleet.module.css';
import type { Selection } from './use-selection.ts';

const everyMs = 3000;
const mostAtOnce = 4;
const waiting: (() => void)[] = [];
let underWay = 0;

interface FleetWallProps {
  devices: readonly Device[];
  selection: Selection;
  hasPictures: boolean;
}

const tileWidth = 168;
const heights = { plain: 98, pictures: 330 };

function useColumns(element: HTMLDivElement | null): number {
  const [columns, setColumns] = useState(2);
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(() =>
      setColumns(Math.max(2, Math.floor((element.clientWidth - 14) / (tileWidth + 10)))),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return columns;
}

export function FleetWall({ devices, selection, hasPictures }: FleetWallProps) {
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  const columns = useColumns(scroll);
  const height = hasPictures ? heights.pictures : heights.plain;
  const rows = useVirtualizer({
    count: Math.ceil(devices.length / columns),
    getScrollElement: () => scroll,
    estimateSize: () => height + 10,
    overscan: 1,
    paddingStart: 7,
    paddingEnd: 7,
  });
  useEffect(() => rows.measure(), [rows, height]);
  return (
    <div ref={setScroll} className={styles['scroll']}>
      <ul className={styles['virtual']} style={{ height: rows.getTotalSize() }} aria-label="Phones">
        {rows.getVirtualItems().map(({ index, start }) => (
          <li
            key={index}
            className={styles['placed']}
            style={{ transform: `translateY(${start}px)`, height: height + 10 }}
          >
            <ul
              className={styles['wallRow']}
              style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, height: height + 10 }}
            >
              {devices.slice(index * columns, (index + 1) * columns).map((device) => (
                <Tile
                  key={device.device_id}
                  device={device}
                  isSelected={selection.ids.has(device.device_id)}
                  hasPicture={hasPictures}
                  toggle={selection.toggle}
                />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface TileProps {
  device: Device;
  isSelected: boolean;
  hasPicture: boolean;
  toggle: Selection['toggle'];
}

const Tile = memo(function Tile({ device, isSelected, hasPicture, toggle }: TileProps) {
  return (
    <li className={styles['tile']} data-selected={isSelected}>
      <div className={styles['tileHead']}>
        <Link to="/devices/$deviceId" params={{ deviceId: device.device_id }} title={device.reason}>
          {deviceName(device)}
        </Link>
        <span className={styles['check']}>
          <SelectBox device={device} isSelected={isSelected} toggle={toggle} />
        </span>
      </div>
      <div className={styles['tileLine']}>
        <DeviceStateMark state={device.state} /> <Age since={device.since} />
      </div>
      <div className={styles['tileLine']} title={device.reason}>
        {device.serial}
        {!isReady(device) && `: ${device.reason}`}
      </div>
      {hasPicture && <Picture device={device} />}
    </li>
  );
});

/** It is asked for only while it can be seen: the wall renders what is in sight. */
function Picture({ device }: { device: Device }) {
  const isShown = useRef(true);
  const { data, error } = useQuery({
    ...smallPictureQuery(device.device_id),
    enabled: isReady(device) && isShown.current,
  });
  if (!isReady(device)) return <div className={styles['picture']}>no picture</div>;
  if (data === undefined)
    return <div className={styles['picture']}>{error === null ? '' : 'no picture'}</div>;
  return (
    <div className={styles['picture']}>
      {data.source === undefined ? 'screen is private or off' : <img src={data.source} alt="" />}
    </div>
  );
}

/** Phones are asked a few at a time, so that a wall of them leaves room for everything else. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (underWay >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  underWay += 1;
  try {
    return await work();
  } finally {
    underWay -= 1;
    waiting.shift()?.();
  }
}

/** What a phone shows, small, for as long as somebody looks. */
const smallPictureQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['small-picture', deviceId],
    queryFn: ({ signal }) =>
      inTurn(async () => {
        const input = { params: { id: deviceId }, query: { width: 240 } };
        const { screen } = await call('GET /api/v2/devices/:id/screen', input, { signal });
        const { picture, captured_at: capturedAt } = wholeScreen(screen);
        const source = picture === null ? undefined : `data:${picture.mime_type};base64,${picture.base64}`;
        return { source, capturedAt };
      }),
    refetchInterval: everyMs,
    retry: false,
    gcTime: 30_000,
  });

import type { Device } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useState } from 'react';

import { WallPicture } from '../live/wall-picture.tsx';
import { Age } from '../parts/time.tsx';
import { deviceName, DeviceStateMark, isReady } from './device.tsx';
import { SelectBox, type Selection } from './fleet-table.tsx';
import styles from './fleet.module.css';

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
    // What is rendered is watched.
    overscan: hasPictures ? 0 : 1,
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

function Picture({ device }: { device: Device }) {
  return (
    <div className={styles['picture']}>
      {isReady(device) ? <WallPicture device={device} /> : 'no picture'}
    </div>
  );
}

import type { Device } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useState } from 'react';

import { WallPicture } from '../../control/live/wall-picture.tsx';
import type { Selection } from '../../parts/selection.ts';
import { Age } from '../../parts/time.tsx';
import { deviceName, DeviceStateMark, isReady, selectName } from './device.tsx';
import styles from './fleet.module.css';

interface FleetWallProps {
  devices: readonly Device[];
  selection: Selection;
  hasPictures: boolean;
}

const [gap, edge] = [10, 16];
const narrowest = 168;
const widest = 230;
/** Width of a tile as a fraction of the page, so that a wider page has more and larger tiles. */
const tileShare = 0.11;
const plainHeight = 110;
/** Ratio of height to width of a tile with a picture: a phone is about twice as high as wide. */
const pictureRatio = 1.9;

interface WallLayout {
  readonly columns: number;
  readonly tileWidth: number;
}

function layoutFor(width: number): WallLayout {
  const wanted = Math.min(widest, Math.max(narrowest, width * tileShare));
  const room = width - 2 * edge + gap;
  const columns = Math.max(2, Math.floor(room / (wanted + gap)));
  return { columns, tileWidth: room / columns - gap };
}

function useLayout(element: HTMLDivElement | null): WallLayout {
  const [layout, setLayout] = useState(() => layoutFor(0));
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setLayout(layoutFor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return layout;
}

export function FleetWall({ devices, selection, hasPictures }: FleetWallProps) {
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  const { columns, tileWidth } = useLayout(scroll);
  const height = hasPictures ? Math.max(plainHeight, Math.round(tileWidth * pictureRatio)) : plainHeight;
  const rows = useVirtualizer({
    count: Math.ceil(devices.length / columns),
    getScrollElement: () => scroll,
    estimateSize: () => height + gap,
    // Rendered rows get live pictures, so none is rendered outside of the view.
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
            style={{ transform: `translateY(${start}px)`, height: height + gap }}
          >
            <ul
              className={styles['wallRow']}
              style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, height: height + gap }}
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
  const name = deviceName(device);
  const isUsable = isReady(device);
  return (
    <li className={styles['tile']} data-selected={isSelected}>
      <div className={styles['tileHead']}>
        <Link
          to="/devices/$deviceId"
          params={{ deviceId: device.device_id }}
          title={`${name}, ${device.serial}: ${device.reason}`}
        >
          {name}
        </Link>
        <span className={styles['check']}>
          <input
            type="checkbox"
            aria-label={`Select ${selectName(device)}`}
            checked={isSelected}
            onChange={() => undefined}
            onClick={(event) => toggle(device.device_id, event.shiftKey)}
          />
        </span>
      </div>
      <div className={styles['tileLine']}>
        <DeviceStateMark state={device.state} /> <Age since={device.since} />
      </div>
      <div className={styles['tileLine']} title={device.serial}>
        {device.serial}
      </div>
      {!hasPicture && !isUsable && (
        <div className={styles['tileLine']} title={device.reason}>
          {device.reason}
        </div>
      )}
      {hasPicture && (
        <div className={styles['picture']}>{isUsable ? <WallPicture device={device} /> : device.reason}</div>
      )}
    </li>
  );
});

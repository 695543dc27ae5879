import { proposeSelectors } from '@phalanx/automation/selectors';
import type { Device } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState, type PointerEvent } from 'react';

import { isReady } from '../../devices/device-state.tsx';
import type { LivePicture } from '../../live/use-live-picture.ts';
import { SearchInput } from '../../parts/field.tsx';
import { NodeBoxes } from '../../screens/node-boxes.tsx';
import { SelectorList } from '../../screens/node-panel.tsx';
import { NodeTree, useMatches } from '../../screens/node-tree.tsx';
import { screenQuery } from '../../screens/screen-query.ts';
import { nodesAt, type TreeRow } from '../../screens/screen-tree.ts';
import type { CodeSink } from '../editor/editor-handle.ts';
import styles from './phone-pane.module.css';

/** The tree is read when the picture has been the same for so long. */
const quietMs = 250;
const noRows: readonly TreeRow[] = [];

/** The tree of what the phone shows, and the node that somebody has picked. */
export function usePicking(device: Device, { address }: LivePicture, isOn: boolean) {
  const isWanted = isOn && isReady(device);
  const { data, error, refetch } = useQuery({ ...screenQuery(device.device_id), enabled: isWanted });
  useEffect(() => {
    if (!isWanted || address === undefined) return undefined;
    const timer = window.setTimeout(() => void refetch(), quietMs);
    return () => window.clearTimeout(timer);
  }, [isWanted, address, refetch]);
  const [chosen, setChosen] = useState<number>();
  const [hovered, setHovered] = useState<number>();
  const [search, setSearch] = useState('');
  const rows = data?.tree.rows ?? noRows;
  const [shown, setShown] = useState(rows);
  if (shown !== rows) {
    setShown(rows);
    // Another screen: what was picked there is no node of this one, unless it looks the same.
    if (shown.length !== rows.length) setChosen(undefined);
    setHovered(undefined);
  }
  const row = chosen === undefined ? undefined : rows[chosen];
  const best = useMemo(() => (row === undefined ? undefined : proposeSelectors(row.node)[0]?.code), [row]);
  return {
    ...{ rows, error, row, best, chosen, setChosen, hovered, setHovered, search, setSearch },
    matches: useMatches(rows, search),
  };
}

type Picking = ReturnType<typeof usePicking>;

interface PickLayerProps {
  picking: Picking;
  picture: LivePicture;
  /** Writes the best proposal for the picked node. */
  onInsert: () => void;
}

/** Outlines what is pointed at. A click picks it, a double click also writes its code. */
export function PickLayer({ picking, picture: { width, height }, onInsert }: PickLayerProps) {
  const { rows, row, hovered, matches } = picking;
  const nodeAt = ({ clientX, clientY, currentTarget }: PointerEvent): number | undefined => {
    const box = currentTarget.getBoundingClientRect();
    const [x, y] = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
    return nodesAt(rows, x * width, y * height)[0]?.index;
  };
  if (width === 0) return null;
  return (
    // The tree below is the way for the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={styles['layer']}
      onPointerMove={(event) => picking.setHovered(nodeAt(event))}
      onPointerLeave={() => picking.setHovered(undefined)}
      onPointerUp={(event) => picking.setChosen(nodeAt(event))}
      onDoubleClick={onInsert}
    >
      <NodeBoxes {...{ rows, hovered, matches, width, height }} chosen={row} />
    </div>
  );
}

/** The code for the picked node, and the tree to pick it from. */
export function PickedNode({ picking, sink }: { picking: Picking; sink: CodeSink }) {
  const { rows, row, error, search, matches } = picking;
  return (
    <div className={styles['picked']}>
      {row === undefined ? (
        <p className={styles['hint']}>
          {error === null ? 'Click on the phone to see the code that finds an element.' : error.message}
        </p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <div className={styles['selectors']} tabIndex={0} role="region" aria-label="Code for the element">
          <SelectorList node={row.node} onInsert={sink.insert} reason={sink.reason} />
        </div>
      )}
      <details className={styles['details']}>
        <summary>Tree</summary>
        <SearchInput label="Search the tree" value={search} onChange={picking.setSearch} />
        <div className={styles['tree']}>
          <NodeTree
            {...{ rows, matches }}
            subject={undefined}
            chosen={picking.chosen}
            hovered={picking.hovered}
            onChoose={picking.setChosen}
            onHover={picking.setHovered}
          />
        </div>
      </details>
    </div>
  );
}

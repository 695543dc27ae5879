import type { Device } from '@phalanx/protocol';
import { useState, useEffect, useMemo, type PointerEvent } from 'react';
import { Link } from '@tanstack/react-router';
import { proposeSelectors } from '@phalanx/automation/selectors';
import { useQuery } from '@tanstack/react-query';

import { deviceName, isReady } from '../../../fleet/devices/device.tsx';
import { Button } from '../../../parts/button.tsx';
import { Select, SearchInput } from '../../../parts/field.tsx';
import { useRemembered } from '../../../parts/splitter.tsx';
import type { CodeSink } from '../editor/code-editor.tsx';
import { TouchScreen } from '../../../control/live/touch-screen.tsx';
import { useLease } from '../../../control/live/use-lease.ts';
import { useLivePicture, type LivePicture } from '../../../control/live/use-live-picture.ts';
import { useRecording, useTouch } from '../../../control/live/use-touch.ts';
import { NodeBoxes, SelectorList, NodeTree, useMatches } from '../../../fleet/screens/nodes.tsx';
import { screenQuery, nodesAt, type TreeRow } from '../../../fleet/screens/screen-tree.ts';
import styles from './phone-pane.module.css';
import { TypedSecrets } from './typed-secrets.tsx';

/** Time that the picture must stay unchanged before the tree is read, in ms. */
const quietMs = 250;
const noRows: readonly TreeRow[] = [];

interface PhonePaneProps {
  projectId: string;
  devices: readonly Device[];
  sink: CodeSink;
}

/** Pane with a phone chosen for the run, beside the code. This browser remembers whether it is open. */
export function PhonePane({ projectId, devices, sink }: PhonePaneProps) {
  const { isOpen, toggle } = useRemembered('phalanx.editor.phone');
  const [chosen, setChosen] = useState<string>();
  const device = devices.find(({ device_id: id }) => id === chosen) ?? devices[0];
  return (
    <section className={styles['pane']} aria-label="Phone" data-open={isOpen}>
      <div className={styles['head']}>
        <h2>Phone</h2>
        {isOpen && device !== undefined && devices.length > 1 && (
          <Select
            label="Phone that is shown"
            value={device.device_id}
            options={devices.map((one) => ({
              value: one.device_id,
              label: `${deviceName(one)} ${one.serial}`,
            }))}
            onChange={setChosen}
          />
        )}
        <Button look="quiet" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? 'Hide' : 'Show'}
        </Button>
      </div>
      {isOpen &&
        (device === undefined ? (
          <p className={styles['hint']}>Choose a phone above to see its screen here.</p>
        ) : (
          <PhoneInHand key={device.device_id} projectId={projectId} device={device} sink={sink} />
        ))}
    </section>
  );
}

type Mode = 'pick' | 'touch';
const keys = [
  { label: 'Back', code: 4 },
  { label: 'Home', code: 3 },
  { label: 'Recents', code: 187 },
] as const;

/**
 * Live picture of a phone, either to pick nodes for the code or to touch. Touching takes the phone's lease and can be
 * recorded.
 */
function PhoneInHand({ projectId, device, sink }: Omit<PhonePaneProps, 'devices'> & { device: Device }) {
  const [mode, setMode] = useState<Mode>('pick');
  const picture = useLivePicture(device.device_id);
  const lease = useLease(device);
  const picking = usePicking(device, picture, mode === 'pick');
  const recording = useRecording(device, lease, (lines) => sink.insert(lines.join('\n')));
  const touches = useTouch(device.device_id, recording.touch);
  const pick = (): void => {
    recording.stop();
    setMode('pick');
    if (lease.isMine) void lease.end();
  };
  const insertBest = (): void => {
    if (picking.best !== undefined && sink.reason === undefined) sink.insert(picking.best);
  };
  return (
    <>
      <div className={styles['modes']} role="group" aria-label="What a click on the phone does">
        <Button look="quiet" aria-pressed={mode === 'pick'} onClick={pick}>
          Pick
        </Button>
        <Button
          look="quiet"
          aria-pressed={mode === 'touch'}
          reason={lease.isMine ? undefined : lease.reason}
          onClick={() => setMode('touch')}
        >
          Touch
        </Button>
        <Button
          look="quiet"
          aria-pressed={recording.isOn}
          reason={lease.reason ?? sink.reason}
          onClick={() => {
            if (recording.isOn) return recording.stop();
            setMode('touch');
            recording.start();
          }}
        >
          {recording.isOn ? 'Stop recording' : 'Record'}
        </Button>
        <span className={styles['space']} />
        <Link to="/devices/$deviceId" params={{ deviceId: device.device_id }}>
          Inspect
        </Link>
      </div>
      <div className={styles['picture']}>
        <TouchScreen picture={picture} touches={mode === 'touch' ? touches : undefined}>
          {mode === 'pick' && <PickLayer picking={picking} picture={picture} onInsert={insertBest} />}
        </TouchScreen>
      </div>
      {mode === 'touch' ? (
        <div className={styles['foot']}>
          <div className={styles['keys']} role="group" aria-label="Keys of the phone">
            {keys.map(({ label, code }) => (
              <Button key={code} onClick={() => touches.send({ type: 'key', key_code: code })}>
                {label}
              </Button>
            ))}
          </div>
          <p role="status">{touchText(lease.isMine, recording)}</p>
          {recording.secrets.size > 0 && (
            <TypedSecrets
              projectId={projectId}
              secrets={recording.secrets}
              reason={sink.reason}
              onStored={recording.forgetSecrets}
            />
          )}
        </div>
      ) : (
        <PickedNode picking={picking} sink={sink} />
      )}
    </>
  );
}

function touchText(isMine: boolean, { isOn, isWriting }: ReturnType<typeof useRecording>): string {
  if (isWriting) return 'Waiting for the screen to settle…';
  if (isOn) return 'Recording. Each touch is written at the cursor.';
  if (isMine) return 'You control this phone. Control ends after a minute without input.';
  return 'The first touch takes control of the phone.';
}

/** Tree of the current screen and the node that the user picked. */
function usePicking(device: Device, { address }: LivePicture, isOn: boolean) {
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
    // The screen has changed: the picked node is kept only if the new tree has as many rows.
    if (shown.length !== rows.length) setChosen(undefined);
    setHovered(undefined);
  }
  const row = chosen === undefined ? undefined : rows[chosen];
  const best = useMemo(() => (row === undefined ? undefined : proposeSelectors(row.node)[0]?.code), [row]);
  return {
    rows,
    error,
    row,
    best,
    chosen,
    setChosen,
    hovered,
    setHovered,
    search,
    setSearch,
    matches: useMatches(rows, search),
  };
}

type Picking = ReturnType<typeof usePicking>;

interface PickLayerProps {
  picking: Picking;
  picture: LivePicture;
  /** Inserts the best selector of the picked node. */
  onInsert: () => void;
}

/** Outlines the node below the pointer. A click picks it; a double click also inserts its code. */
function PickLayer({ picking, picture: { width, height }, onInsert }: PickLayerProps) {
  const { rows, row, hovered, matches } = picking;
  const nodeAt = ({ clientX, clientY, currentTarget }: PointerEvent): number | undefined => {
    const box = currentTarget.getBoundingClientRect();
    const [x, y] = [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
    return nodesAt(rows, x * width, y * height)[0]?.index;
  };
  if (width === 0) return null;
  return (
    // The tree below is the keyboard alternative.
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

/** Code for the picked node, and the tree to pick another one. */
function PickedNode({ picking, sink }: { picking: Picking; sink: CodeSink }) {
  const { rows, row, error, search, matches } = picking;
  return (
    <div className={styles['picked']}>
      {row === undefined ? (
        <p className={styles['hint']}>
          {error === null ? 'Click an element on the phone to see the code that finds it.' : error.message}
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

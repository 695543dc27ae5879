import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import type { Device, PhoneInput } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { TouchScreen } from '../../live/touch-screen.tsx';
import { useLease } from '../../live/use-lease.ts';
import { useLivePicture } from '../../live/use-live-picture.ts';
import { touchPhone, useTouch } from '../../live/use-touch.ts';
import { Button } from '../../parts/button.tsx';
import { screenQuery } from '../../screens/screen-query.ts';
import type { CodeSink } from '../editor/editor-handle.ts';
import styles from './phone-pane.module.css';
import { PickedNode, PickLayer, usePicking } from './phone-picker.tsx';

type Mode = 'pick' | 'touch';
const keys = [
  { label: 'Back', code: 4 },
  { label: 'Home', code: 3 },
  { label: 'Recents', code: 187 },
] as const;

/** The live picture of a phone: to pick nodes for the code, or to touch, which takes the phone, and can be recorded. */
export function PhoneInHand({ device, sink }: { device: Device; sink: CodeSink }) {
  const [mode, setMode] = useState<Mode>('pick');
  const picture = useLivePicture(device.device_id);
  const lease = useLease(device);
  const picking = usePicking(device, picture, mode === 'pick');
  const recording = useRecording(device, lease, sink);
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
        </div>
      ) : (
        <PickedNode picking={picking} sink={sink} />
      )}
    </>
  );
}

function touchText(isMine: boolean, { isOn, isWriting }: ReturnType<typeof useRecording>): string {
  if (isWriting) return 'Waiting for the phone to come to rest…';
  if (isOn) return 'Recording. Each touch is written at the cursor.';
  if (isMine) return 'You control this phone. Control ends after a minute without input.';
  return 'The first touch takes control of the phone.';
}

/** Touches of a phone that somebody takes with the first of them; while it is on, each is written as code. */
function useRecording(device: Device, lease: ReturnType<typeof useLease>, sink: CodeSink) {
  const queries = useQueryClient();
  const [recorder, setRecorder] = useState<TouchRecorder>();
  const [isWriting, setWriting] = useState(false);
  const readScreen = async (): Promise<AndroidNode> =>
    (await queries.fetchQuery({ ...screenQuery(device.device_id), staleTime: 0 })).tree.root;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) sink.insert(lines.join('\n'));
  };
  const record = async (by: TouchRecorder, input: PhoneInput): Promise<void> => {
    setWriting(true);
    try {
      const before = await readScreen();
      await touchPhone(device.device_id, input);
      write(by.write({ input, before, after: await untilSettled(readScreen) }));
    } finally {
      setWriting(false);
    }
  };
  const touch = async (input: PhoneInput): Promise<void> => {
    if (!lease.isMine && !(await lease.take())) throw new Error(lease.reason ?? 'You have no control of it.');
    if (recorder === undefined) await touchPhone(device.device_id, input);
    else await record(recorder, input);
  };
  return {
    isOn: recorder !== undefined,
    isWriting,
    touch,
    start: () => setRecorder(new TouchRecorder()),
    stop: () => {
      write(recorder?.end() ?? []);
      setRecorder(undefined);
    },
  };
}

/** What a phone does at a touch has begun after so long, in milliseconds. */
const beginsMs = 200;
const pauseMs = 150;
const mostReads = 12;

/** A screen that two readings in a row show alike; the last one, of a screen that never comes to rest. */
async function untilSettled(
  read: () => Promise<AndroidNode>,
  pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<AndroidNode> {
  await pause(beginsMs);
  let last = await read();
  for (let reads = 1; reads < mostReads; reads += 1) {
    await pause(pauseMs);
    const next = await read();
    if (lookOf(next) === lookOf(last)) return next;
    last = next;
  }
  return last;
}

const lookOf = (screen: AndroidNode): string =>
  screen
    .allNodes()
    .map(({ viewId, text, description, isChecked, boundsInScreen: { left, top } }) =>
      [viewId, text, description, isChecked, left, top].join(' '),
    )
    .join('\n');

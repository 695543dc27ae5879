import type { Device } from '@phalanx/protocol';
import { useState } from 'react';
import { Link } from '@tanstack/react-router';

import { deviceName } from '../../devices/device-name.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { useRemembered } from '../../parts/remembered.ts';
import type { CodeSink } from '../editor/editor-handle.ts';
import styles from './phone-pane.module.css';
import { TouchScreen } from '../../live/touch-screen.tsx';
import { useLease } from '../../live/use-lease.ts';
import { useLivePicture } from '../../live/use-live-picture.ts';
import { useRecording } from '../../live/use-recording.ts';
import { useTouch } from '../../live/use-touch.ts';
import { PickedNode, PickLayer, usePicking } from './phone-picker.tsx';

/** A phone that was chosen for the run, beside the code; this browser remembers whether it is open. */
export function PhonePane({ devices, sink }: { devices: readonly Device[]; sink: CodeSink }) {
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
          <PhoneInHand key={device.device_id} device={device} sink={sink} />
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

/** The live picture of a phone: to pick nodes for the code, or to touch, which takes the phone, and can be recorded. */
function PhoneInHand({ device, sink }: { device: Device; sink: CodeSink }) {
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

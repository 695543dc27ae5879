import type { Device } from '@phalanx/protocol';
import { useState } from 'react';

import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Form, SubmitButton } from '../parts/form.tsx';
import { Age } from '../parts/time.tsx';
import styles from './live.module.css';
import { Recording } from './recording.tsx';
import { TouchScreen } from './touch-screen.tsx';
import { useLease } from './use-lease.ts';
import { useLivePicture } from './use-live-picture.ts';
import { useRecording } from './use-recording.ts';
import { useTouch, type Touch } from './use-touch.ts';

/** The live view of a phone, and its control for who takes it. */
export function Control({ device }: { device: Device }) {
  const picture = useLivePicture(device.device_id, { video: true });
  const lease = useLease(device);
  const [code, setCode] = useState<readonly string[]>([]);
  const recording = useRecording(device, lease, (lines) => setCode((before) => [...before, ...lines]));
  const touches = useTouch(device.device_id, recording.touch);
  return (
    <div className={styles['control']}>
      <section className={styles['live']} aria-label="Live view">
        <TouchScreen picture={picture} touches={lease.isMine ? touches : undefined} />
      </section>
      <section className={styles['side']} aria-label="Control">
        <Hold device={device} lease={lease} />
        <Keys touches={touches} reason={lease.isMine ? undefined : 'Take control first.'} />
        <Recording
          recording={recording}
          reason={lease.isMine ? undefined : 'Take control first.'}
          code={code}
          onClear={() => setCode([])}
        />
        <p className={styles['quiet']}>
          {picture.capturedAt === undefined ? (
            'No picture yet'
          ) : (
            <>
              <Age since={picture.capturedAt} /> old, {picture.width} × {picture.height}
              {picture.kind !== undefined && ` · ${picture.kind}`}
            </>
          )}
        </p>
      </section>
    </div>
  );
}

function Hold({ device, lease }: { device: Device; lease: ReturnType<typeof useLease> }) {
  const isOthers = device.lease !== null && !lease.isMine;
  return (
    <div className={styles['hold']}>
      {lease.isMine ? (
        <Button isBusy={lease.isBusy} onClick={() => void lease.end()}>
          End control
        </Button>
      ) : (
        <Button look="primary" isBusy={lease.isBusy} reason={lease.reason} onClick={() => void lease.take()}>
          Take control
        </Button>
      )}
      <p role="status">
        {lease.isMine
          ? 'You control this phone. Click to tap, drag to swipe, hold for a long press, and type. Control ends after a minute without input.'
          : (lease.reason ?? 'While you control the phone, nobody else can touch it or launch on it.')}
      </p>
      {isOthers && device.role === 'owner' && (
        <Button look="danger" isBusy={lease.isBusy} onClick={() => void lease.end()}>
          End their control
        </Button>
      )}
      {device.running.length > 0 && (
        <p className={styles['warning']}>
          An automation is running on this phone. It continues, and your input mixes with its own.
        </p>
      )}
    </div>
  );
}

const keys = [
  { label: 'Back', code: 4 },
  { label: 'Home', code: 3 },
  { label: 'Recents', code: 187 },
  { label: 'Power', code: 26 },
  { label: 'Volume +', code: 24 },
  { label: 'Volume −', code: 25 },
  { label: 'Enter', code: 66 },
  { label: 'Delete', code: 67 },
] as const;

function Keys({ touches, reason }: { touches: Touch; reason: string | undefined }) {
  const [text, setText] = useState('');
  const sendText = (): void => {
    touches.send({ type: 'text', text });
    setText('');
  };
  return (
    <>
      <div className={styles['keys']} role="group" aria-label="Keys of the phone">
        {keys.map(({ label, code }) => (
          <Button key={code} reason={reason} onClick={() => touches.send({ type: 'key', key_code: code })}>
            {label}
          </Button>
        ))}
      </div>
      <Form className={styles['text']} onAct={sendText}>
        <TextField
          label="Text"
          hint="It goes into the field that has the focus on the phone."
          value={text}
          onChange={setText}
        />
        <SubmitButton reason={reason ?? (text === '' ? 'Type something.' : undefined)}>Send</SubmitButton>
      </Form>
    </>
  );
}

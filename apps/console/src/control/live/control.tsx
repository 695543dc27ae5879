import type { Device, SentFile as PhoneFile, SentFilePart } from '@phalanx/protocol';
import { useRef, useState } from 'react';
import { randomUuid } from '@phalanx/client/random-uuid';
import { sendFile } from '@phalanx/client/send-file';

import { call } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { copyText, CopyButton } from '../../parts/copy.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form, SubmitButton } from '../../parts/form.tsx';
import { Age } from '../../parts/time.tsx';
import { NewProject } from '../../code/projects/project-dialogs.tsx';
import styles from './live.module.css';
import { TouchScreen } from './touch-screen.tsx';
import { useLease } from './use-lease.ts';
import { zoom, useTouch, type Touch, useRecording } from './use-touch.ts';
import { type LivePicture, useLivePicture } from './use-live-picture.ts';
import { messageOf } from '../../parts/states.tsx';

/** Live view of a phone, and its controls for the user who takes it. */
export function Control({ device }: { device: Device }) {
  const picture = useLivePicture(device.device_id, { video: true });
  const lease = useLease(device);
  const [code, setCode] = useState<readonly string[]>([]);
  const recording = useRecording(device, lease, (lines) => setCode((before) => [...before, ...lines]));
  const clear = (): void => {
    setCode([]);
    recording.forgetSecrets();
  };
  const touches = useTouch(device.device_id, recording.touch);
  const files = useSentFiles(device.device_id);
  const reason = lease.isMine ? undefined : 'Take control first.';
  return (
    <div className={styles['control']}>
      <section className={styles['live']} aria-label="Live view">
        <TouchScreen picture={picture} touches={lease.isMine ? touches : undefined} onFiles={files.send} />
      </section>
      <section className={styles['side']} aria-label="Control">
        <Hold device={device} lease={lease} />
        <Keys touches={touches} screen={picture} reason={reason} />
        <ClipboardAndFiles deviceId={device.device_id} files={files} reason={reason} />
        <Recording recording={recording} reason={reason} code={code} onClear={clear} />
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
          ? 'You control this phone. Click to tap, drag to swipe, hold for a long press, drag with Shift to pinch, type, paste, and drop files. Control ends after a minute without input.'
          : (lease.reason ?? 'While you control the phone, no one else can touch it or launch on it.')}
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

interface KeysProps {
  touches: Touch;
  screen: LivePicture;
  reason: string | undefined;
}

/** The phone's own keys, and a text field whose content is sent to the phone at once. */
export function Keys({ touches, screen, reason }: KeysProps) {
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
        {[true, false].map((isIn) => (
          <Button
            key={String(isIn)}
            reason={reason ?? (screen.width === 0 ? 'No picture yet' : undefined)}
            onClick={() => touches.send(zoom(isIn, screen))}
          >
            {isIn ? 'Zoom in' : 'Zoom out'}
          </Button>
        ))}
      </div>
      <Form className={styles['text']} onAct={sendText}>
        <TextField
          label="Text"
          hint="Sent to the focused field on the phone."
          value={text}
          onChange={setText}
        />
        <SubmitButton reason={reason ?? (text === '' ? 'Enter a text.' : undefined)}>Send</SubmitButton>
      </Form>
    </>
  );
}

interface ClipboardAndFilesProps {
  deviceId: string;
  files: ReturnType<typeof useSentFiles>;
  reason: string | undefined;
}

/** Clipboard and file transfer between the computer and the phone. */
function ClipboardAndFiles({ deviceId, files, reason }: ClipboardAndFilesProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    try {
      const { text } = await call('GET /api/v2/devices/:id/clipboard', { params: { id: deviceId } });
      await copyText(text);
      notify(text === '' ? 'The clipboard of the phone is empty' : 'Copied from the phone');
    } catch (error) {
      notifyFailure('Could not copy from the phone', error);
    }
  };
  return (
    <section className={styles['recording']} aria-label="Clipboard and files">
      <div className={styles['actions']}>
        <Button reason={reason} onClick={() => void copy()}>
          Copy from phone
        </Button>
        <Button reason={reason} onClick={() => chooser.current?.click()}>
          Choose files…
        </Button>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={({ target }) => {
            files.send([...(target.files ?? [])]);
            target.value = '';
          }}
        />
      </div>
      <ul className={styles['files']} aria-label="Sent files" aria-live="polite">
        {files.files.map(({ id, name, done, outcome }) => (
          <li key={id}>
            {name}
            {outcome === undefined ? (
              <progress value={done} aria-label={`Sending ${name}`} />
            ) : (
              `: ${outcome}`
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RecordingProps {
  recording: ReturnType<typeof useRecording>;
  /** Reason why recording is unavailable. */
  reason: string | undefined;
  code: readonly string[];
  onClear: () => void;
}

/** Recorded input as automation code, which grows with each touch. */
function Recording({ recording, reason, code, onClear }: RecordingProps) {
  const [isNew, setNew] = useState(false);
  const text = `${code.join('\n')}\n`;
  return (
    <section className={styles['recording']} aria-label="Recording">
      <div className={styles['actions']}>
        {recording.isOn ? (
          <Button onClick={recording.stop}>Stop recording</Button>
        ) : (
          <Button reason={reason} onClick={recording.start}>
            Record
          </Button>
        )}
        {code.length > 0 && (
          <>
            <Button onClick={() => setNew(true)}>Create a project</Button>
            <Button look="quiet" onClick={onClear}>
              Clear
            </Button>
            <CopyButton text={text} label="Copy the code" />
          </>
        )}
      </div>
      <p role="status">{statusOf(recording, code)}</p>
      {code.length > 0 && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <ol className={styles['steps']} tabIndex={0} aria-label="Recorded steps">
          {code.map((line, index) => (
            // Lines are only appended, and equal lines belong to different touches.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              <code>{line}</code>
            </li>
          ))}
        </ol>
      )}
      {isNew && <NewProject main={text} secrets={recording.secrets} onClose={() => setNew(false)} />}
    </section>
  );
}

function statusOf({ isOn, isWriting }: RecordingProps['recording'], code: readonly string[]): string {
  if (isWriting) return 'Waiting for the screen to settle…';
  if (isOn) return 'Recording. Each touch is written as code.';
  return code.length === 0
    ? 'Recording writes your actions as automation code.'
    : `${code.length} ${code.length === 1 ? 'step' : 'steps'} recorded.`;
}

/** File uploaded to the phone. */
interface SentFile {
  readonly id: string;
  readonly name: string;
  /** Progress from 0 to 1. */
  readonly done: number;
  /** Outcome as a word or a sentence; undefined while the upload is in flight. */
  readonly outcome: string | undefined;
}

function outcomeOf({ state, path, in_media_store: isIndexed, not_installed: left = [] }: PhoneFile): string {
  if (state === 'installed') return left.length === 0 ? 'installed' : `installed, but for ${left.join(', ')}`;
  const place = path ?? 'on the phone';
  return isIndexed === true ? `${place}, visible to apps` : `${place}; apps find it only by its path`;
}

/** Uploads files to the phone one after the other. */
function useSentFiles(deviceId: string) {
  const [files, setFiles] = useState<readonly SentFile[]>([]);
  const change = (id: string, changes: Partial<SentFile>): void =>
    setFiles((known) => known.map((one) => (one.id === id ? { ...one, ...changes } : one)));
  const post = (body: SentFilePart) =>
    call('POST /api/v2/devices/:id/files', { params: { id: deviceId }, body });
  const sendAll = async (given: readonly File[]): Promise<void> => {
    const added = given.map((file) => ({ file, id: randomUuid() }));
    setFiles((known) => [
      ...known,
      ...added.map(({ file: { name }, id }) => ({ id, name, done: 0, outcome: undefined })),
    ]);
    for (const { file, id } of added) {
      const toSend = { name: file.name, content: file, onProgress: (done: number) => change(id, { done }) };
      const outcome = await sendFile(post, toSend).then(
        outcomeOf,
        (error: unknown) => `not sent: ${messageOf(error)}`,
      );
      change(id, { outcome });
    }
  };
  return { files, send: (given: readonly File[]) => void sendAll(given) };
}

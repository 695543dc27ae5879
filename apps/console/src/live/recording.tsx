import { useState } from 'react';

import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { NewProject } from '../projects/new-project.tsx';
import styles from './live.module.css';
import type { useRecording } from './use-recording.ts';

interface RecordingProps {
  recording: ReturnType<typeof useRecording>;
  /** Why nothing can be recorded. */
  reason: string | undefined;
  code: readonly string[];
  onClear: () => void;
}

/** What is done to the phone as code of an automation, a list that grows with each touch. */
export function Recording({ recording, reason, code, onClear }: RecordingProps) {
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
            // Lines are added at the end, and equal ones are of different touches.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              <code>{line}</code>
            </li>
          ))}
        </ol>
      )}
      {isNew && <NewProject main={text} onClose={() => setNew(false)} />}
    </section>
  );
}

function statusOf({ isOn, isWriting }: RecordingProps['recording'], code: readonly string[]): string {
  if (isWriting) return 'Waiting for the phone to come to rest…';
  if (isOn) return 'Recording. Each touch is written as code.';
  return code.length === 0
    ? 'Record writes what you do as code of an automation.'
    : `${code.length} ${code.length === 1 ? 'step' : 'steps'} recorded.`;
}

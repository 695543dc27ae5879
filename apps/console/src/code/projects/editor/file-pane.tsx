import { useState, type RefObject } from 'react';

import { useMissingScope } from '../../../api/me.ts';
import { Button } from '../../../parts/button.tsx';
import { Failure, InlineFailure, Loading } from '../../../parts/states.tsx';
import { clockTime } from '../../../parts/time.tsx';
import { CodeEditor, type Jump, type EditorHandle } from './code-editor.tsx';
import type { CodeNavigation } from './code-navigation.tsx';
import styles from '../project.module.css';
import type { useOpenFile } from './use-open-file.ts';

interface FilePaneProps {
  open: ReturnType<typeof useOpenFile>;
  reason: string | undefined;
  jump: Jump;
  runningLine: number | undefined;
  handle: RefObject<EditorHandle | null>;
  navigation: CodeNavigation;
  onRun: () => void;
  onRunSelection: () => void;
  onReplay: () => void;
}

export function FilePane({ open, reason, onReplay, ...editor }: FilePaneProps) {
  const missing = useMissingScope('review');
  const { file, loadError } = open;
  if (file === undefined)
    return loadError === null ? <Loading /> : <Failure error={loadError} onRetry={() => void open.load()} />;
  const here = file.findings.filter(({ path }) => path === file.path);
  return (
    <>
      <div className={styles['status']}>
        <code>{file.path}</code>
        {reason === undefined ? <Condition file={file} /> : <ReadOnly reason={reason} />}
        <span className={styles['space']} />
        {file.condition !== 'saved' && (
          <Button look="quiet" onClick={() => void open.discard()}>
            Discard
          </Button>
        )}
        <Button
          look="quiet"
          title="Ctrl+Shift+Enter; without a selection, the whole file"
          onClick={editor.onRunSelection}
        >
          Run selection
        </Button>
        <Button
          look="quiet"
          reason={reason ?? missing}
          title="Tests this text on saved screens, without a phone and without saving it"
          onClick={onReplay}
        >
          Replay draft
        </Button>
        <Button
          isBusy={file.condition === 'saving'}
          reason={reason ?? (file.condition === 'saved' ? 'All changes are saved.' : undefined)}
          title="Ctrl+S"
          onClick={() => void open.save()}
        >
          Save
        </Button>
      </div>
      {file.condition === 'conflict' && <Conflict open={open} theirs={file.theirs ?? ''} />}
      {file.error !== null && file.condition !== 'refused' && (
        <InlineFailure error={file.error} onRetry={() => void open.save()} />
      )}
      <div className={styles['editorFrame']}>
        <CodeEditor
          path={file.path}
          initial={file.initial}
          isReadOnly={reason !== undefined}
          findings={here}
          assistant={open.assistant}
          {...editor}
          onChange={open.change}
          onSave={() => void open.save()}
        />
      </div>
    </>
  );
}

type OpenFile = NonNullable<FilePaneProps['open']['file']>;

function conditionText({ condition, savedAt, findings }: OpenFile): string {
  if (condition === 'saved') return savedAt === undefined ? 'Saved' : `Saved at ${clockTime(savedAt)}`;
  if (condition === 'saving') return 'Saving…';
  if (condition === 'conflict') return 'Conflict: saved elsewhere';
  if (condition === 'unsaved') return 'Unsaved, kept in this browser';
  const count = findings.filter(({ severity }) => severity === 'error').length;
  return `Refused: ${count} ${count === 1 ? 'error' : 'errors'}. Kept in this browser`;
}

const ReadOnly = ({ reason }: { reason: string }) => (
  <span className={styles['condition']} role="status">
    Read only. {reason}
  </span>
);

const Condition = ({ file }: { file: OpenFile }) => (
  <span
    className={styles['condition']}
    role="status"
    data-bad={file.condition === 'refused' || file.condition === 'conflict'}
  >
    {conditionText(file)}
  </span>
);

/** Conflict between the local and the saved text. Both stay until the user chooses one. */
function Conflict({ open, theirs }: { open: FilePaneProps['open']; theirs: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <div className={styles['conflict']} role="alert">
      <p>
        This file was saved elsewhere while you were editing: by another user, or by you in another browser.
        Your text is kept in this browser.
      </p>
      <div>
        <Button onClick={() => void open.save(true)}>Overwrite with mine</Button>
        <Button onClick={() => void open.discard()}>Use theirs</Button>
        <Button look="quiet" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide theirs' : 'Show theirs'}
        </Button>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      {isShown && (
        <pre className={styles['theirs']} tabIndex={0} role="region" aria-label="Their text">
          {theirs}
        </pre>
      )}
    </div>
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { classNames } from '../parts/class-names.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notify } from '../parts/notices.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import styles from './project.module.css';

interface CommitDialogProps {
  projectId: string;
  onClose: () => void;
}

export function CommitDialog({ projectId, onClose }: CommitDialogProps) {
  const queries = useQueryClient();
  const params = { id: projectId };
  const { data, error: readError } = useQuery({
    queryKey: ['diff', projectId],
    queryFn: ({ signal }) => call('GET /api/v2/automation/diff/:id', { params }, { signal }),
    staleTime: 0,
  });
  const [message, setMessage] = useState('');
  const [error, setError] = useState<unknown>(null);
  const commit = async (): Promise<void> => {
    try {
      const reply = await call('POST /api/v2/automation/commit/:id', { params, body: { message } });
      notify(`Committed ${reply.commit.hash.slice(0, 8)}`, reply.commit.message);
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      await queries.invalidateQueries({ queryKey: ['commits', projectId] });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title="Commit"
      isWide
      onClose={onClose}
      action="Commit"
      reason={message.trim() === '' ? 'Say what has changed.' : undefined}
      onAct={commit}
    >
      <TextField label="What has changed" value={message} onChange={setMessage} />
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={5} />}
      {data?.files.map(({ path, change, diff }) => (
        <div key={path} className={styles['diff']}>
          <h3>
            {path} · {change}
          </h3>
          {diff === null ? (
            <p className={styles['hunk']}>It is binary, or too large to show.</p>
          ) : (
            <DiffText text={diff} />
          )}
        </div>
      ))}
    </ActionDialog>
  );
}

const lookOf = (line: string): string | undefined => {
  if (line.startsWith('@@')) return styles['hunk'];
  if (line.startsWith('+')) return styles['added'];
  return line.startsWith('-') ? styles['removed'] : undefined;
};

/** The lines of a diff, without the head that names its file. */
function DiffText({ text }: { text: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  const start = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('@@')),
  );
  const shown = lines.slice(start).map((line, index) => ({ line, at: start + index }));
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <pre tabIndex={0} role="region" aria-label="Changes">
      {shown.map(({ line, at }) => (
        <span key={at} className={classNames(lookOf(line))}>
          {line === '' ? ' ' : line}
        </span>
      ))}
    </pre>
  );
}

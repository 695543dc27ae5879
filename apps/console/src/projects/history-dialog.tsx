import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { notify } from '../parts/notices.tsx';
import { Empty, InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import styles from './project.module.css';

interface HistoryDialogProps {
  projectId: string;
  /** Why files can't be changed. */
  reason: string | undefined;
  onClose: () => void;
}

export function HistoryDialog({ projectId, reason, onClose }: HistoryDialogProps) {
  const queries = useQueryClient();
  const params = { id: projectId };
  const { data, error: readError } = useQuery({
    queryKey: ['commits', projectId],
    queryFn: ({ signal }) => call('GET /api/v2/automation/commits/:id', { params, query: {} }, { signal }),
  });
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState<string>();
  const revert = async (hash: string): Promise<void> => {
    setBusy(hash);
    try {
      const { replaced } = await call('POST /api/v2/automation/revert/:id', { params, body: { hash } });
      const kept = replaced === null ? '' : ` What was not committed is kept as ${replaced.slice(0, 8)}.`;
      notify(`The files are those of ${hash.slice(0, 8)}`, `The history stays as it is.${kept}`);
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(undefined);
    }
  };
  return (
    <Dialog title="History" isOpen isWide onClose={onClose}>
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={5} />}
      {data?.commits.length === 0 && <Empty title="Nothing was committed yet" />}
      <ul>
        {data?.commits.map(({ hash, message, author, created_at: createdAt }) => (
          <li key={hash} className={styles['commit']}>
            <div>
              <p>{message}</p>
              <small>
                <code>{hash.slice(0, 8)}</code> · {author.name} · <Moment at={createdAt} />
              </small>
            </div>
            <Button reason={reason} isBusy={busy === hash} onClick={() => void revert(hash)}>
              Put files back
            </Button>
          </li>
        ))}
      </ul>
      {data?.next_cursor !== null && data !== undefined && <p>Older commits are in the git repository.</p>}
    </Dialog>
  );
}

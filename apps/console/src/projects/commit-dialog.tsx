import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notify } from '../parts/notices.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { DiffList } from './diff-list.tsx';
import { draftsQuery } from './queries.ts';

interface CommitDialogProps {
  projectId: string;
  userId: string;
  onClose: () => void;
}

export function CommitDialog({ projectId, userId, onClose }: CommitDialogProps) {
  const queries = useQueryClient();
  const params = { id: projectId };
  const { data, error: readError } = useQuery({
    queryKey: ['diff', projectId],
    queryFn: ({ signal }) => call('GET /api/v2/automation/diff/:id', { params }, { signal }),
    staleTime: 0,
  });
  const { data: drafts = [] } = useQuery(draftsQuery(userId, projectId));
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
      {drafts.length > 0 && (
        <p role="note">
          Not in this commit, because {drafts.length === 1 ? 'it is' : 'they are'} not saved:{' '}
          {drafts.join(', ')}
        </p>
      )}
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={5} />}
      {data !== undefined && <DiffList files={data.files} />}
    </ActionDialog>
  );
}

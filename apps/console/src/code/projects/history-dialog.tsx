import type { Replay } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { notify } from '../../parts/notices.tsx';
import { Empty, InlineFailure, Loading } from '../../parts/states.tsx';
import { Moment } from '../../parts/time.tsx';
import { ReplayLink, replaysByCommit, replaysQuery } from '../../evidence/replays/replay.tsx';
import { Field, selectClass } from '../../parts/field.tsx';
import { DiffList } from './diff-list.tsx';
import styles from './project.module.css';
import { readStoredFile } from './project.tsx';
import { unchanging } from '../../api/query-client.ts';

interface HistoryDialogProps {
  projectId: string;
  /** Whether the user may see the replays of commits. */
  hasReplays: boolean;
  /** Reason why files can't be changed. */
  reason: string | undefined;
  onClose: () => void;
}

export function HistoryDialog({ projectId, hasReplays, reason, onClose }: HistoryDialogProps) {
  const queries = useQueryClient();
  const params = { id: projectId };
  const { data, error: readError } = useQuery({
    queryKey: ['commits', projectId],
    queryFn: ({ signal }) => call('GET /api/v2/automation/commits/:id', { params, query: {} }, { signal }),
  });
  const { data: replays = [] } = useQuery({ ...replaysQuery(projectId), enabled: hasReplays });
  const boards = replaysByCommit(replays);
  const [error, setError] = useState<unknown>(null);
  const [shown, setShown] = useState<Shown>();
  const show = (wanted: Shown): void => setShown(isSame(shown, wanted) ? undefined : wanted);
  const [busy, setBusy] = useState<string>();
  const revert = async (hash: string): Promise<void> => {
    setBusy(hash);
    try {
      const { replaced } = await call('POST /api/v2/automation/revert/:id', { params, body: { hash } });
      const kept = replaced === null ? '' : ` Your uncommitted changes are kept as ${replaced.slice(0, 8)}.`;
      notify(`Restored ${hash.slice(0, 8)}`, `The history is unchanged.${kept}`);
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
      {data?.commits.length === 0 && <Empty title="No commits yet" />}
      <ul>
        {data?.commits.map(({ hash, message, author, created_at: createdAt }) => (
          <li key={hash} className={styles['commit']}>
            <div className={styles['commitHead']}>
              <b>{message}</b>
              <small>
                <code>{hash.slice(0, 8)}</code> · {author.name} · <Moment at={createdAt} />
                <Board replay={boards.get(hash)} />
              </small>
            </div>
            <div className={styles['commitActions']}>
              {(['changes', 'files'] as const).map((part) => (
                <Button
                  key={part}
                  look="quiet"
                  aria-expanded={isSame(shown, { hash, part })}
                  onClick={() => show({ hash, part })}
                >
                  {part === 'changes' ? 'Changes' : 'Files'}
                </Button>
              ))}
              <Button reason={reason} isBusy={busy === hash} onClick={() => void revert(hash)}>
                Restore this version
              </Button>
            </div>
            {isSame(shown, { hash, part: 'changes' }) && <CommitDiff projectId={projectId} hash={hash} />}
            {isSame(shown, { hash, part: 'files' }) && <CommitFiles projectId={projectId} hash={hash} />}
          </li>
        ))}
      </ul>
      {data?.next_cursor !== null && data !== undefined && <p>Older commits are in the git repository.</p>}
    </Dialog>
  );
}

/** Expanded part of a commit. */
interface Shown {
  hash: string;
  part: 'changes' | 'files';
}

const isSame = (one: Shown | undefined, other: Shown): boolean =>
  one?.hash === other.hash && one.part === other.part;

const Board = ({ replay }: { replay: Replay | undefined }) =>
  replay === undefined ? null : <ReplayLink replay={replay} lead=" · " />;

/** Changes of a commit. */
function CommitDiff({ projectId, hash }: { projectId: string; hash: string }) {
  const { data, error } = useQuery({
    queryKey: ['commits', projectId, hash],
    queryFn: ({ signal }) =>
      call(
        'GET /api/v2/automation/diff/:id',
        { params: { id: projectId }, query: { commit: hash } },
        { signal },
      ),
    ...unchanging,
  });
  return (
    <div className={styles['commitDiff']}>
      {error !== null && <InlineFailure error={error} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data !== undefined && <DiffList files={data.files} />}
      {data?.files.length === 0 && <p>This commit changed no files.</p>}
      {data?.truncated === true && <p>The rest is too long to show.</p>}
    </div>
  );
}

interface CommitFilesProps {
  projectId: string;
  hash: string;
}

/** Files of a commit, one at a time. */
function CommitFiles({ projectId, hash }: CommitFilesProps) {
  const { data, error } = useQuery({
    queryKey: ['commits', projectId, hash, 'files'],
    queryFn: ({ signal }) =>
      call(
        'GET /api/v2/automation/files/:id',
        { params: { id: projectId }, query: { commit: hash, limit: 1000 } },
        { signal },
      ),
    ...unchanging,
  });
  const [chosen, setChosen] = useState<string>();
  const path = chosen ?? (data?.files.find((file) => file.path === 'main.ts') ?? data?.files[0])?.path;
  return (
    <div className={styles['commitDiff']}>
      {error !== null && <InlineFailure error={error} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.files.length === 0 && <p>This commit has no files.</p>}
      {data !== undefined && path !== undefined && (
        <>
          <Field
            label={`Files of ${hash.slice(0, 8)}`}
            hint={data.next_cursor === null ? undefined : 'These are the first 1,000.'}
          >
            {(attributes) => (
              <select
                {...attributes}
                className={selectClass}
                value={path}
                onChange={({ target }) => setChosen(target.value)}
              >
                {data.files.map((file) => (
                  <option key={file.path}>{file.path}</option>
                ))}
              </select>
            )}
          </Field>
          <CommittedFile {...{ projectId, hash, path }} />
        </>
      )}
    </div>
  );
}

function CommittedFile({ projectId, hash, path }: CommitFilesProps & { path: string }) {
  const { data, error } = useQuery({
    queryKey: ['commits', projectId, hash, 'file', path],
    queryFn: async ({ signal }) => (await readStoredFile(projectId, path, signal, { commit: hash })).content,
    ...unchanging,
  });
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <pre
      className={styles['committed']}
      tabIndex={0}
      role="region"
      aria-label={`${path} of ${hash.slice(0, 8)}`}
    >
      {data}
    </pre>
  );
}

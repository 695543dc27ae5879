import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { Field, selectClass } from '../parts/field.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import styles from './project.module.css';
import { readStoredFile } from './queries.ts';

interface CommitFilesProps {
  projectId: string;
  hash: string;
}

/** The files of a commit, one of them at a time. */
export function CommitFiles({ projectId, hash }: CommitFilesProps) {
  const { data, error } = useQuery({
    queryKey: ['commits', projectId, hash, 'files'],
    queryFn: ({ signal }) =>
      call(
        'GET /api/v2/automation/files/:id',
        { params: { id: projectId }, query: { commit: hash, limit: 1000 } },
        { signal },
      ),
    staleTime: Infinity,
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
    queryFn: async ({ signal }) => (await readStoredFile(projectId, path, signal, hash)).content,
    staleTime: Infinity,
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

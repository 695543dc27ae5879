import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { call } from '../api/call.ts';
import { SearchInput } from '../parts/field.tsx';
import { InlineFailure } from '../parts/states.tsx';
import styles from './project.module.css';

/** A search begins when nobody has typed for so long. */
const typedMs = 250;

interface SearchFilesProps {
  projectId: string;
  onOpenLine: (path: string, line: number) => void;
}

/** Lines of all saved files that contain a text. */
export function SearchFiles({ projectId, onOpenLine }: SearchFilesProps) {
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => setText(typed), typedMs);
    return () => window.clearTimeout(timer);
  }, [typed]);
  const { data, error } = useQuery({
    queryKey: ['files', projectId, 'search', text],
    enabled: text !== '',
    queryFn: ({ signal }) =>
      call('GET /api/v2/automation/search/:id', { params: { id: projectId }, query: { text } }, { signal }),
  });
  const matches = text === '' ? [] : (data?.matches ?? []);
  return (
    <>
      <div className={styles['searchBar']}>
        <SearchInput label="Search in files" value={typed} onChange={setTyped} autoFocus />
        <span role="status">
          {data === undefined || text === ''
            ? 'Saved files are searched.'
            : `${matches.length.toLocaleString('en')}${data.truncated ? ' of more' : ''} lines`}
        </span>
      </div>
      {error !== null && <InlineFailure error={error} />}
      <ul className={styles['results']} aria-label="Found lines">
        {matches.map(({ path, line, text: found }) => (
          <li key={`${path}:${line}`}>
            <button type="button" className={styles['result']} onClick={() => onOpenLine(path, line)}>
              <code>
                {path}:{line}
              </code>
              <span>{found.trim()}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

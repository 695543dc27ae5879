import type { Run } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { SearchInput } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { Age, Moment } from '../parts/time.tsx';
import { useLastRuns } from '../runs/queries.ts';
import { RunStatusMark } from '../runs/run-status.tsx';
import { NewProject } from './new-project.tsx';
import styles from './projects.module.css';
import { projectsQuery } from './queries.ts';

const roleWords = {
  owner: 'yours',
  shared_editor: 'shared, you edit',
  shared_viewer: 'shared, you look',
} as const;

export function ProjectsPage() {
  const { data, error, refetch } = useQuery(projectsQuery);
  const missing = useMissingScope('edit');
  const lastRuns = useLastRuns();
  const [isNew, setNew] = useState(false);
  const [search, setSearch] = useState('');
  const shown = data?.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const create = (
    <Button look="primary" reason={missing} onClick={() => setNew(true)}>
      New project…
    </Button>
  );
  return (
    <Page
      title="Projects"
      aside={data !== undefined && <span>{data.length}</span>}
      actions={data !== undefined && data.length > 0 ? create : undefined}
      bar={
        data !== undefined && data.length > 8 ? (
          <SearchInput label="Name" value={search} onChange={setSearch} />
        ) : undefined
      }
    >
      {data === undefined &&
        (error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && (
        <Empty title="No project yet" action={create}>
          A project is an automation that is saved: its files, their history, and who shares them.
        </Empty>
      )}
      <ul className={styles['list']}>
        {shown?.map(({ id, name, role, created_at: createdAt }) => (
          <li key={id} className={styles['row']}>
            <Link to="/projects/$projectId" params={{ projectId: id }}>
              {name}
            </Link>
            <LastRun run={lastRuns.get(id)} />
            <span className={styles['quiet']}>{roleWords[role]}</span>
            <span className={styles['quiet']}>
              made <Moment at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </Page>
  );
}

const LastRun = ({ run }: { run: Run | undefined }) =>
  run === undefined ? (
    <span className={styles['quiet']}>no run of late</span>
  ) : (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles['lastRun']}>
      <RunStatusMark run={run} />{' '}
      <span className={styles['quiet']}>
        <Age since={run.created_at} /> ago
      </span>
    </Link>
  );

import type { Run } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { WaitingShares } from '../access/waiting-shares.tsx';
import { useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { SearchInput } from '../parts/field.tsx';
import { openRow } from '../parts/row.ts';
import { countText, Page } from '../parts/page.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { Age, Moment } from '../parts/time.tsx';
import { lastRunQuery, useLastRuns, RunStatusMark } from '../runs/run.tsx';
import { NewProject } from './project-dialogs.tsx';
import styles from './projects.module.css';
import { projectsQuery } from './project.tsx';

const roleWords = {
  owner: 'yours',
  shared_editor: 'shared, you can edit',
  shared_viewer: 'shared, read only',
} as const;

export function ProjectsPage() {
  const { data, error, refetch } = useQuery(projectsQuery);
  const missing = useMissingScope('edit');
  const lastRuns = useLastRuns();
  const navigate = useNavigate();
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
      aside={data !== undefined && <span>{countText(shown?.length ?? 0, data.length)}</span>}
      actions={data !== undefined && data.length > 0 ? create : undefined}
      bar={
        data !== undefined && data.length > 8 ? (
          <SearchInput label="Name" value={search} onChange={setSearch} />
        ) : undefined
      }
    >
      {data === undefined &&
        (error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />)}
      <WaitingShares kinds={['project']} />
      {data?.length === 0 && (
        <Empty title="No project yet" action={create}>
          A project is an automation that is saved: its files, their history, and who shares them.
        </Empty>
      )}
      <ul className={styles['list']}>
        {shown?.map(({ id, name, role, accepted, created_at: createdAt }) => (
          // The name is the link for the keyboard.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
          <li
            key={id}
            className={styles['row']}
            onClick={openRow(() => void navigate({ to: '/projects/$projectId', params: { projectId: id } }))}
          >
            <Link to="/projects/$projectId" params={{ projectId: id }}>
              {name}
            </Link>
            <LastRun projectId={id} newest={lastRuns} />
            <span className={styles['quiet']}>
              {accepted ? roleWords[role] : `${roleWords[role]}, not accepted yet`}
            </span>
            <span className={styles['quiet']}>
              created <Moment at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </Page>
  );
}

interface LastRunProps {
  projectId: string;
  /** The newest runs of all projects, by project, as many as one page has. */
  newest: ReadonlyMap<string, Run> | undefined;
}

function LastRun({ projectId, newest }: LastRunProps) {
  const known = newest?.get(projectId);
  const isElsewhere = newest !== undefined && known === undefined;
  const { data: older } = useQuery({ ...lastRunQuery(projectId), enabled: isElsewhere });
  const run = known ?? older;
  if (run === undefined) return <span className={styles['quiet']} />;
  if (run === null) return <span className={styles['quiet']}>no runs</span>;
  return (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles['lastRun']}>
      <RunStatusMark run={run} />{' '}
      <span className={styles['quiet']}>
        <Age since={run.created_at} /> ago
      </span>
    </Link>
  );
}

import type { Project, Run } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';

import { WaitingShares } from '../shares/waiting-shares.tsx';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { SearchInput } from '../../parts/field.tsx';
import { LongTable } from '../../parts/long-table.tsx';
import { countText, Page } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { Age, Moment } from '../../parts/time.tsx';
import { lastRunQuery, useLastRuns, RunStatusMark } from '../../runs/runs/run.tsx';
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
      <div className={styles['frame']}>
        <WaitingShares kinds={['project']} />
        {data?.length === 0 && (
          <Empty title="No projects yet" action={create}>
            A project is a saved automation: its files, their history, and the users it is shared with.
          </Empty>
        )}
        {shown?.length === 0 && data?.length !== 0 && <Empty title="No projects match" />}
        {shown !== undefined && shown.length > 0 && <ProjectTable projects={shown} />}
      </div>
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </Page>
  );
}

const idOf = ({ id }: Project): string => id;

function ProjectTable({ projects }: { projects: readonly Project[] }) {
  const newest = useLastRuns();
  const navigate = useNavigate();
  const columns = useMemo(() => columnsOf(newest), [newest]);
  const open = useCallback(
    ({ id }: Project) => void navigate({ to: '/projects/$projectId', params: { projectId: id } }),
    [navigate],
  );
  return <LongTable label="Projects" rows={projects} keyOf={idOf} onOpen={open} columns={columns} />;
}

const columnsOf = (newest: LastRunProps['newest']): Column<Project>[] => [
  {
    header: 'Name',
    width: 'grow',
    minimum: 180,
    isMain: true,
    text: ({ name }) => name,
    content: ({ id, name }) => (
      <Link to="/projects/$projectId" params={{ projectId: id }}>
        {name}
      </Link>
    ),
  },
  {
    header: 'Last run',
    width: 'fit',
    minimum: 180,
    content: ({ id }) => <LastRun projectId={id} newest={newest} />,
  },
  {
    header: 'Access',
    width: 'fit',
    minimum: 120,
    text: ({ accepted, role }) => (accepted ? roleWords[role] : `${roleWords[role]}, not accepted yet`),
  },
  {
    header: 'Changed',
    width: 'fit',
    minimum: 110,
    content: ({ changed_at: changed, created_at: created }) => <Moment at={changed ?? created} />,
  },
  { header: 'Created', width: 'fit', minimum: 110, content: ({ created_at: at }) => <Moment at={at} /> },
];

interface LastRunProps {
  projectId: string;
  /** Newest runs by project, from one page of runs of all projects. */
  newest: ReadonlyMap<string, Run> | undefined;
}

function LastRun({ projectId, newest }: LastRunProps) {
  const known = newest?.get(projectId);
  const isElsewhere = newest !== undefined && known === undefined;
  const { data: older } = useQuery({ ...lastRunQuery(projectId), enabled: isElsewhere });
  const run = known ?? older;
  if (run === undefined) return null;
  if (run === null) return 'no runs';
  return (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles['lastRun']}>
      <RunStatusMark run={run} /> <Age since={run.created_at} /> ago
    </Link>
  );
}

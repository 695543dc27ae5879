import type { AppVersionFigures, DriftGroup } from '@phalanx/protocol';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { call } from '../../api/call.ts';
import { projectParents } from '../../code/projects/project-parents.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { projectQuery } from '../../code/projects/project.tsx';
import styles from './versions.module.css';

const route = getRouteApi('/projects/$projectId/versions');

const driftQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['drift', projectId],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/automation/drift/:id', { params: { id: projectId } }, { signal })).versions,
  });

/** Shows how well the code of a project recognizes the screens of each version of its apps. */
export function VersionsPage() {
  const { projectId } = route.useParams();
  const { data: project } = useQuery(projectQuery(projectId));
  const { data, error, refetch } = useQuery(driftQuery(projectId));
  return (
    <Page title="App versions" parents={projectParents(projectId, project?.name)}>
      <div className={styles['page']}>
        {data === undefined && error === null && <Loading rows={6} />}
        {data === undefined && error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && (
          <Empty title="No app versions yet">
            A run that reads screens of an app reports the app’s version when it ends. Five runs of two
            versions are enough to compare them.
          </Empty>
        )}
        {data !== undefined && data.length > 0 && <Versions projectId={projectId} versions={data} />}
        {data?.map((version) => (
          <DriftNotice key={`${version.package} ${version.version}`} version={version} />
        ))}
      </div>
    </Page>
  );
}

const columnsOf = (projectId: string): Column<AppVersionFigures>[] => [
  { header: 'App', width: 'grow', minimum: 140, isMain: true, text: (one) => one.package },
  { header: 'Version', width: 'grow', text: (one) => one.version },
  {
    header: 'Runs',
    width: 'fit',
    isNumber: true,
    content: (one) => (
      <Link to="/runs" search={{ automation: projectId }}>
        {one.runs}
      </Link>
    ),
  },
  {
    header: 'Failed',
    width: 'fit',
    content: (one) => <Share bad={one.bad_runs} all={one.runs} />,
  },
  {
    header: 'Records',
    width: 'fit',
    isNumber: true,
    content: (one) => (
      <Link to="/records" search={{ automation: projectId, status: 'any' }}>
        {one.records}
      </Link>
    ),
  },
  {
    header: 'New groups',
    width: 'fit',
    isNumber: true,
    content: (one) => (
      <Link to="/groups" search={{ automation: projectId, status: 'any' }}>
        {one.groups}
      </Link>
    ),
  },
  { header: 'First seen', width: 'fit', content: (one) => <Moment at={one.first_seen} /> },
  {
    header: 'State',
    width: 'grow',
    speaksForItself: true,
    content: ({ drift }) => drift !== null && <b className={styles['worse']}>⚠ {stateOf(drift)}</b>,
  },
];

interface VersionsProps {
  projectId: string;
  versions: readonly AppVersionFigures[];
}

const Versions = ({ projectId, versions }: VersionsProps) => (
  <Table
    label="Versions"
    columns={columnsOf(projectId)}
    rows={versions}
    keyOf={(one) => `${one.package} ${one.version}`}
  />
);

function Share({ bad, all }: { bad: number; all: number }) {
  const percent = all === 0 ? 0 : Math.round((100 * bad) / all);
  return (
    <span className={styles['share']}>
      <span className={styles['bar']} aria-hidden="true">
        <span style={{ width: `${percent}%` }} />
      </span>
      {all === 0 ? 'no run yet' : `${bad} of ${all}, ${percent} %`}
    </span>
  );
}

const stateOf = ({ by, version_before: before }: NonNullable<AppVersionFigures['drift']>): string =>
  by === 'failing' ? `known worse than ${before ?? 'before'}` : 'a solved group is open again';

function DriftNotice({ version }: { version: AppVersionFigures }) {
  const { package: name, version: number, drift, new_groups: groups } = version;
  const reopened = drift?.group_id;
  if (groups.length === 0 && reopened === undefined) return null;
  return (
    <section className={styles['news']} aria-label={`New with ${number}`}>
      <h2>
        New with {name} {number}
      </h2>
      <ul>
        {reopened !== undefined && (
          <li>
            <Link to="/groups" search={{ group: reopened, status: 'any' }}>
              A solved group
            </Link>{' '}
            is open again: no record of it was of this version before.
          </li>
        )}
        {groups.map((group) => (
          <li key={group.id}>
            <Link to="/groups" search={{ group: group.id, status: 'any' }}>
              {group.title === '' ? 'A screen without words' : group.title}
            </Link>{' '}
            on the way to {group.next_stage}, {group.records} {group.records === 1 ? 'record' : 'records'}
            {group.nearest !== null && <Nearest nearest={group.nearest} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

const Nearest = ({ nearest }: { nearest: NonNullable<DriftGroup['nearest']> }) => (
  <p className={styles['quiet']}>
    {Math.round(nearest.likeness * 100)} % like {nearest.state}
    {nearest.kind === 'golden' && ` (${nearest.name})`}: {nearest.difference}
  </p>
);

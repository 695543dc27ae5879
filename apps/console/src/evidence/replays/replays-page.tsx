import type { Replay } from '@phalanx/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { projectParents } from '../../code/projects/project-parents.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Failure, InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { projectQuery } from '../../code/projects/project.tsx';
import { codeName, ReplayDetail, ReplayLink, replaysQuery } from './replay.tsx';
import styles from './replays.module.css';

const route = getRouteApi('/projects/$projectId/replays');

const causes: Record<Replay['cause'], string> = { request: 'requested', save: 'saved', commit: 'committed' };

/** Replays of a project's code. */
export function ReplaysPage() {
  const { projectId } = route.useParams();
  const { replay: wanted } = route.useSearch();
  const { data: project } = useQuery(projectQuery(projectId));
  const { data, error, refetch } = useQuery(replaysQuery(projectId));
  const missing = useMissingScope('review');
  const start = useStart(projectId);
  const shown = data?.find(({ id }) => id === wanted) ?? data?.[0];
  return (
    <Page
      title="Replays"
      parents={projectParents(projectId, project?.name)}
      actions={
        <Button reason={missing} isBusy={start.isPending} onClick={() => start.mutate()}>
          Replay saved files
        </Button>
      }
    >
      <div className={styles['page']}>
        {start.error !== null && <InlineFailure error={start.error} />}
        {data === undefined && error === null && <Loading rows={6} />}
        {data === undefined && error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && (
          <Empty title="No replays yet">
            Each save and each commit is replayed on saved screens once there are any.
          </Empty>
        )}
        {shown !== undefined && <ReplayDetail key={shown.id} replay={shown} />}
        {data !== undefined && data.length > 0 && <ReplayList replays={data} shown={shown?.id} />}
      </div>
    </Page>
  );
}

const replayColumns: readonly Column<Replay>[] = [
  { header: 'Code', width: 'fit', isMain: true, text: codeName },
  { header: 'When', width: 'fit', content: (replay) => <Moment at={replay.created_at} /> },
  { header: 'Why', width: 'fit', text: (replay) => causes[replay.cause] },
  { header: 'Result', width: 'grow', content: (replay) => <ReplayLink replay={replay} /> },
];

const ReplayList = ({ replays, shown }: { replays: readonly Replay[]; shown: string | undefined }) => (
  <Table
    label="All replays"
    columns={replayColumns}
    rows={replays}
    keyOf={({ id }) => id}
    isChosen={({ id }) => id === shown}
  />
);

function useStart(projectId: string) {
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  return useMutation({
    mutationFn: async () => {
      const input = { params: { id: projectId }, body: { set: 'all' as const } };
      return (await call('POST /api/v2/automation/replay/:id', input)).replay;
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['replays'] });
      await navigate({ search: { replay: id } });
    },
  });
}

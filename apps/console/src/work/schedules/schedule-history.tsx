import type { Schedule, ScheduleTurn } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { Dialog } from '../../parts/dialog.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { turnsQuery } from '../jobs/job.tsx';
import { scheduleName, ZonedTime } from './schedule.tsx';

/** Lists the outcomes of the schedule's times and the jobs that users started manually. */
export function ScheduleHistory({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { data, error } = useQuery(turnsQuery(schedule.id));
  const columns: readonly Column<ScheduleTurn>[] = [
    {
      header: 'Time',
      width: 'fit',
      isMain: true,
      content: ({ planned_at: at }) => <ZonedTime at={at} zone={schedule.time_zone} />,
    },
    {
      header: 'Job',
      width: 'fit',
      content: ({ job_id: jobId }) =>
        jobId === null ? (
          'skipped'
        ) : (
          <Link to="/jobs/$jobId" params={{ jobId }}>
            Open job
          </Link>
        ),
    },
    { header: 'Note', width: 'grow', minimum: 180, text: ({ reason }) => reason },
  ];
  return (
    <Dialog title={`History of ${scheduleName(schedule)}`} isOpen isWide onClose={onClose}>
      {error !== null && <InlineFailure error={error} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.length === 0 && <p>This schedule has not run yet.</p>}
      {data !== undefined && data.length > 0 && (
        <Table label="History" columns={columns} rows={data} keyOf={({ id }) => id} />
      )}
    </Dialog>
  );
}

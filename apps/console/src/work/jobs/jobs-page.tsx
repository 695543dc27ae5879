import type { Job } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Age } from '../../parts/time.tsx';
import { countsText, JobStatusMark, phonesText, jobsQuery, schedulesQuery } from './job.tsx';
import { JobsFrame } from './jobs-frame.tsx';
import { NewJob } from './new-job.tsx';
import { scheduleName } from '../schedules/schedule.tsx';

export function JobsPage() {
  const { data, error, refetch } = useQuery(jobsQuery);
  const missing = useMissingScope('launch');
  const [isNew, setNew] = useState(false);
  return (
    <JobsFrame
      title="Jobs"
      actions={
        <Button look="primary" reason={missing} onClick={() => setNew(true)}>
          New job…
        </Button>
      }
    >
      {data === undefined &&
        (error === null ? <Loading rows={4} /> : <Failure error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && (
        <p>A job runs a project on phones as soon as they are free, once for each row of a table.</p>
      )}
      {data !== undefined && data.length > 0 && <JobTable jobs={data} />}
      {isNew && <NewJob onClose={() => setNew(false)} />}
    </JobsFrame>
  );
}

function JobTable({ jobs }: { jobs: readonly Job[] }) {
  const navigate = useNavigate();
  const { data: schedules = [] } = useQuery(schedulesQuery);
  const scheduleOf = (job: Job): string => {
    if (job.schedule_id === null) return '–';
    const schedule = schedules.find(({ id }) => id === job.schedule_id);
    return schedule === undefined ? 'deleted' : scheduleName(schedule);
  };
  const columns: readonly Column<Job>[] = [
    {
      header: 'Project',
      width: 'grow',
      minimum: 140,
      isMain: true,
      content: (job) => (
        <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
          {job.project_name}
        </Link>
      ),
    },
    {
      header: 'State',
      width: 'fit',
      speaksForItself: true,
      content: ({ status }) => <JobStatusMark status={status} />,
    },
    { header: 'Tasks', width: 'grow', minimum: 150, text: countsText },
    { header: 'Phones', width: 'grow', minimum: 110, text: phonesText },
    { header: 'Schedule', width: 'grow', minimum: 100, text: scheduleOf },
    { header: 'By', width: 'fit', text: ({ user }) => user.name },
    {
      header: 'Created',
      width: 'fit',
      content: ({ created_at: at }) => (
        <>
          <Age since={at} /> ago
        </>
      ),
    },
  ];
  return (
    <Table
      label="List of jobs"
      columns={columns}
      rows={jobs}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/jobs/$jobId', params: { jobId: id } })}
    />
  );
}

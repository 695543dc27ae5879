import type { Schedule } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useProjectNames } from '../../code/projects/project.tsx';
import { cronWords } from './cron-words.ts';
import { phonesText, schedulesQuery } from '../jobs/job.tsx';
import { JobsFrame } from '../jobs/jobs-frame.tsx';
import { scheduleName, ZonedTime } from './schedule.tsx';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleHistory } from './schedule-history.tsx';
import styles from './schedules-page.module.css';

type Open = { what: 'new' } | { what: 'edit' | 'history'; schedule: Schedule };

export function SchedulesPage() {
  const { data, error, refetch } = useQuery(schedulesQuery);
  const missing = useMissingScope('launch');
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <JobsFrame
      title="Schedules"
      actions={
        <Button look="primary" reason={missing} onClick={() => setOpen({ what: 'new' })}>
          New schedule…
        </Button>
      }
    >
      {data === undefined &&
        (error === null ? <Loading rows={4} /> : <Failure error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && <p>A schedule creates a job at set times.</p>}
      {data !== undefined && data.length > 0 && <ScheduleTable schedules={data} onOpen={setOpen} />}
      {open?.what === 'new' && <ScheduleDialog onClose={close} />}
      {open?.what === 'edit' && <ScheduleDialog schedule={open.schedule} onClose={close} />}
      {open?.what === 'history' && <ScheduleHistory schedule={open.schedule} onClose={close} />}
    </JobsFrame>
  );
}

const scheduleTimes = (cron: string): string => {
  const words = cronWords(cron);
  return words === undefined ? '' : `${words} · `;
};

function ScheduleTable({
  schedules,
  onOpen,
}: {
  schedules: readonly Schedule[];
  onOpen: (open: Open) => void;
}) {
  const projects = useProjectNames();
  const columns: readonly Column<Schedule>[] = [
    { header: 'Name', width: 'grow', minimum: 120, isMain: true, text: scheduleName },
    {
      header: 'Project',
      width: 'grow',
      minimum: 110,
      text: ({ automation_id: id }) => projects.get(id) ?? 'Project',
    },
    {
      header: 'Times',
      width: 'grow',
      minimum: 150,
      content: ({ cron, time_zone: zone }) => (
        <>
          {scheduleTimes(cron)}
          <code className={styles['cron']}>{cron}</code> · {zone}
        </>
      ),
    },
    {
      header: 'Next',
      width: 'grow',
      minimum: 140,
      content: ({ next: [first], time_zone: zone, problem }) =>
        first === undefined ? problem || 'paused' : <ZonedTime at={first} zone={zone} />,
    },
    {
      header: 'Phones',
      width: 'grow',
      minimum: 100,
      text: ({ work }) =>
        phonesText({ selector: work.selector ?? null, device_ids: work.device_ids ?? null }),
    },
  ];
  return (
    <Table
      label="List of schedules"
      columns={columns}
      rows={schedules}
      keyOf={({ id }) => id}
      actions={(schedule) => <Actions schedule={schedule} onOpen={onOpen} />}
    />
  );
}

function Actions({ schedule, onOpen }: { schedule: Schedule; onOpen: (open: Open) => void }) {
  const { id, paused } = schedule;
  const name = scheduleName(schedule);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const missing = useMissingScope('launch');
  const [isBusy, setBusy] = useState(false);
  const params = { id };
  const act = async (failed: string, work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      notifyFailure(failed, error);
    }
    await queries.invalidateQueries({ queryKey: ['schedules'] });
    setBusy(false);
  };
  const run = async (): Promise<void> => {
    const { job } = await call('POST /api/v2/schedules/:id/run', { params });
    await queries.invalidateQueries({ queryKey: ['jobs'] });
    await navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
  };
  const pause = async (): Promise<void> => {
    await call('PATCH /api/v2/schedules/:id', { params, body: { paused: !paused } });
    notify(paused ? 'The schedule was resumed' : 'The schedule was paused');
  };
  const remove = async (): Promise<void> => {
    await call('DELETE /api/v2/schedules/:id', { params });
    notify('The schedule was deleted');
    await queries.invalidateQueries({ queryKey: ['schedules'] });
  };
  return (
    <>
      <Button
        look="quiet"
        reason={missing}
        isBusy={isBusy}
        title="Creates its job once, now, as you"
        aria-label={`Run now: ${name}`}
        onClick={() => void act('The schedule did not run', run)}
      >
        Run now
      </Button>
      <Button
        look="quiet"
        aria-label={`History of ${name}`}
        onClick={() => onOpen({ what: 'history', schedule })}
      >
        History
      </Button>
      <Button
        look="quiet"
        reason={missing}
        aria-label={`Edit ${name}`}
        onClick={() => onOpen({ what: 'edit', schedule })}
      >
        Edit…
      </Button>
      <Button
        look="quiet"
        reason={missing}
        isBusy={isBusy}
        aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
        onClick={() => void act('The schedule was not changed', pause)}
      >
        {paused ? 'Resume' : 'Pause'}
      </Button>
      <RemovalButton
        name={`the schedule “${name}”`}
        label={`Delete schedule ${name}`}
        reason={missing}
        onRemove={remove}
      >
        <p>It creates no more jobs. Existing jobs stay. This cannot be undone, unlike a pause.</p>
      </RemovalButton>
    </>
  );
}

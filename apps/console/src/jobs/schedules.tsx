import type { Schedule } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { Dialog, ActionDialog } from '../parts/dialog.tsx';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { RemovalButton } from '../parts/removal-button.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import { useProjectNames } from '../projects/project.tsx';
import styles from './jobs.module.css';
import { schedulesQuery, turnsQuery } from './job.tsx';
import { Field, selectClass, TextField } from '../parts/field.tsx';
import { noWork, WorkFields, workBody, workProblem } from './work-fields.tsx';

export function Schedules() {
  const { data, error, refetch } = useQuery(schedulesQuery);
  const missing = useMissingScope('launch');
  const [open, setOpen] = useState<'new' | Schedule>();
  const close = (): void => setOpen(undefined);
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>Schedules</h2>
        <Button reason={missing} onClick={() => setOpen('new')}>
          New schedule…
        </Button>
      </div>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      {data?.length === 0 && <p className={styles['quiet']}>A schedule makes a job again and again.</p>}
      {data !== undefined && data.length > 0 && (
        <SettingsTable label="Schedules" columns={['Project', 'Times', 'Next', 'Phones']} hasActions>
          {data.map((schedule) => (
            <Row key={schedule.id} schedule={schedule} missing={missing} onTurns={() => setOpen(schedule)} />
          ))}
        </SettingsTable>
      )}
      {open === 'new' && <NewSchedule onClose={close} />}
      {open !== undefined && open !== 'new' && <Turns schedule={open} onClose={close} />}
    </section>
  );
}

interface RowProps {
  schedule: Schedule;
  missing: string | undefined;
  onTurns: () => void;
}

function Row({ schedule, missing, onTurns }: RowProps) {
  const { id, name, automation_id: projectId, paused, problem, next, cron, time_zone: zone, work } = schedule;
  const queries = useQueryClient();
  const project = useProjectNames().get(projectId) ?? 'Project';
  const change = async (act: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await act();
      notify(done);
    } catch (error) {
      notifyFailure('The schedule was not changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['schedules'] });
  };
  const params = { id };
  const pause = (): Promise<unknown> =>
    call('PATCH /api/v2/schedules/:id', { params, body: { paused: !paused } });
  const remove = async (): Promise<void> => {
    await call('DELETE /api/v2/schedules/:id', { params });
    notify('The schedule is deleted');
    await queries.invalidateQueries({ queryKey: ['schedules'] });
  };
  const [first] = next;
  return (
    <tr>
      <td title={name}>{name || project}</td>
      <td className={styles['quiet']}>
        <code>{cron}</code> {zone}
      </td>
      <td className={styles['quiet']} title={problem}>
        {first === undefined ? problem || 'paused' : <Moment at={first} />}
      </td>
      <td className={styles['quiet']}>{work.selector ?? `${work.device_ids?.length ?? 0} phones`}</td>
      <td>
        <Button look="quiet" onClick={onTurns}>
          Turns
        </Button>
        <Button
          look="quiet"
          reason={missing}
          onClick={() => void change(pause, paused ? 'The schedule goes on' : 'The schedule is paused')}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <RemovalButton
          name={`the schedule “${name || project}”`}
          label={`Delete schedule ${name || project}`}
          reason={missing}
          onRemove={remove}
        >
          <p>It makes no more jobs. Jobs that it made stay. This cannot be undone; a pause can.</p>
        </RemovalButton>
      </td>
    </tr>
  );
}

function Turns({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { data, error } = useQuery(turnsQuery(schedule.id));
  return (
    <Dialog title="Turns of the schedule" isOpen isWide onClose={onClose}>
      {error !== null && <InlineFailure error={error} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.length === 0 && <p>It had no turn yet.</p>}
      {data !== undefined && data.length > 0 && (
        <SettingsTable label="Turns" columns={['Time', 'What it came to']}>
          {data.map(({ id, planned_at, job_id, reason }) => (
            <tr key={id}>
              <td>
                <Moment at={planned_at} />
              </td>
              <td>
                {job_id === null ? (
                  `skipped: ${reason}`
                ) : (
                  <Link to="/jobs/$jobId" params={{ jobId: job_id }}>
                    its job
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
    </Dialog>
  );
}

const overlaps: Record<Schedule['overlap'], string> = {
  skip: 'skip the turn',
  queue: 'wait for its end',
  allow: 'begin beside it',
};
const isOverlap = (value: string): value is Schedule['overlap'] => value in overlaps;

function NewSchedule({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [work, setWork] = useState(noWork);
  const [cron, setCron] = useState('0 2 * * *');
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [overlap, setOverlap] = useState<Schedule['overlap']>('skip');
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const body = { ...workBody(work), cron, time_zone: zone, overlap };
      await call('POST /api/v2/schedules', { body });
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title="New schedule"
      action="Create"
      reason={workProblem(work)}
      onAct={create}
      onClose={onClose}
    >
      <WorkFields value={work} countHint="So many runs, each on another phone" onChange={setWork} />
      <TextField
        label="Times"
        hint="Cron: minute, hour, day of month, month, day of week"
        value={cron}
        onChange={setCron}
      />
      <TextField label="Time zone" hint="Such as Europe/Berlin" value={zone} onChange={setZone} />
      <Field label="When the job before still runs">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            value={overlap}
            onChange={({ target }) => isOverlap(target.value) && setOverlap(target.value)}
          >
            {Object.entries(overlaps).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

import { type Job, type PhoneSettings, type Task, textsOfPhoneSettings } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { distinctName, useDevicesById } from '../../fleet/devices/device.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { FilterSelect } from '../../parts/field.tsx';
import { LongTable } from '../../parts/long-table.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { countText, Page } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import type { Column } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import {
  countsText,
  JobStatusMark,
  phonesText,
  jobQuery,
  schedulesQuery,
  tasksQuery,
  taskStates,
} from './job.tsx';
import styles from './job-page.module.css';
import { jobSearch } from './job-search.ts';
import { scheduleName } from '../schedules/schedule.tsx';
import { valueColumns } from './value-columns.ts';

const route = getRouteApi('/jobs/$jobId');

export function JobPage() {
  const { jobId } = route.useParams();
  const { data: job, error, refetch } = useQuery(jobQuery(jobId));
  if (job !== undefined) return <Shown job={job} />;
  return (
    <Page title="Job">
      {error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function Shown({ job }: { job: Job }) {
  const { data: tasks, error, refetch } = useQuery(tasksQuery(job));
  return (
    <Page
      title={job.project_name}
      parents={[{ label: 'Jobs', link: { to: '/jobs' } }]}
      aside={<JobStatusMark status={job.status} />}
      actions={<Actions job={job} />}
    >
      <div className={styles['page']}>
        <p role="status">
          {countsText(job)}. {job.reason}
          {job.place !== null && job.place > 0 && ` ${job.place} of your tasks begin before it.`}
        </p>
        <p className={styles['quiet']}>
          Phones: {phonesText(job)}. Created <Moment at={job.created_at} /> by {job.user.name}
          {job.schedule_id === null ? '.' : <OfSchedule id={job.schedule_id} />}
          {job.film && ' Each run records video.'}
          {job.phone_settings !== null && ` Phone settings: ${settingsText(job.phone_settings)}.`}
        </p>
        {tasks === undefined &&
          (error === null ? <Loading rows={6} /> : <Failure error={error} onRetry={() => void refetch()} />)}
        {tasks !== undefined && <TaskTable tasks={tasks} />}
      </div>
    </Page>
  );
}

function OfSchedule({ id }: { id: string }) {
  const { data: schedules = [] } = useQuery(schedulesQuery);
  const schedule = schedules.find((one) => one.id === id);
  return (
    <>
      , for{' '}
      {schedule === undefined ? (
        'a deleted schedule'
      ) : (
        <Link to="/jobs/schedules">the schedule “{scheduleName(schedule)}”</Link>
      )}
      .
    </>
  );
}

const settingsText = (settings: PhoneSettings): string =>
  Object.entries(textsOfPhoneSettings(settings))
    .map(([name, text]) => `${name} ${text}`)
    .join(', ');

function Actions({ job }: { job: Job }) {
  const queries = useQueryClient();
  const missing = useMissingScope('launch');
  const [isBusy, setBusy] = useState(false);
  const change = async (what: 'cancel' | 'resume'): Promise<void> => {
    setBusy(true);
    try {
      const input = { params: { id: job.id } };
      await (what === 'cancel'
        ? call('POST /api/v2/jobs/:id/cancel', input)
        : call('POST /api/v2/jobs/:id/resume', input));
    } catch (error) {
      notifyFailure('The job was not changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['jobs'] });
    setBusy(false);
  };
  const { failed, cancelled } = job.tasks;
  return (
    <>
      <a className={buttonClass('quiet')} href={`/api/v2/jobs/${job.id}/results`} download>
        Results as CSV
      </a>
      {failed + cancelled > 0 && (
        <Button reason={missing} isBusy={isBusy} onClick={() => void change('resume')}>
          Resume {failed + cancelled}
        </Button>
      )}
      {job.ended_at === null && (
        <Button look="danger" reason={missing} isBusy={isBusy} onClick={() => void change('cancel')}>
          Cancel
        </Button>
      )}
    </>
  );
}

function TaskTable({ tasks }: { tasks: readonly Task[] }) {
  const navigate = useNavigate();
  const { state, task: number } = route.useSearch();
  const phones = usePhoneNames(tasks);
  const columns = useMemo(() => columnsOf(tasks, phones), [tasks, phones]);
  const shown = tasks.filter(
    (task) => task.status === (state ?? task.status) && task.number === (number ?? task.number),
  );
  const openRun = useCallback(
    ({ run_id: runId }: Task) => {
      if (runId !== null) void navigate({ to: '/runs/$runId', params: { runId } });
    },
    [navigate],
  );
  return (
    <>
      <div className={styles['filters']}>
        <FilterSelect
          label="State"
          value={state}
          options={taskStates.map((value) => ({
            value,
            label: `${value} (${tasks.filter(({ status }) => status === value).length.toLocaleString('en')})`,
          }))}
          onChange={(value) => void navigate({ to: '.', search: jobSearch({ state: value }), replace: true })}
        />
        <span>
          {countText(shown.length, tasks.length)} {tasks.length === 1 ? 'task' : 'tasks'}
        </span>
        {number !== undefined && (
          <Link to="." search={jobSearch({ state })}>
            Show all tasks
          </Link>
        )}
      </div>
      <div className={styles['tasks']}>
        <LongTable label="Tasks" columns={columns} rows={shown} keyOf={keyOf} onOpen={openRun} />
      </div>
    </>
  );
}

const keyOf = ({ id }: Task): string => id;

function columnsOf(tasks: readonly Task[], phones: ReadonlyMap<string, string>): readonly Column<Task>[] {
  const inputs = valueColumns(
    'Input',
    tasks.map(({ input }) => input),
  );
  const results = valueColumns(
    'Result',
    tasks.map(({ result }) => result),
  );
  const grow = { width: 'grow', minimum: 110 } as const;
  return [
    { header: 'No.', width: 'fit', isNumber: true, text: ({ number }) => String(number) },
    {
      header: 'State',
      width: 'fit',
      isMain: true,
      content: ({ status }) => <JobStatusMark status={status} />,
    },
    ...inputs.map(({ header, textOf }) => ({ header, ...grow, text: ({ input }: Task) => textOf(input) })),
    ...results.map(({ header, textOf }) => ({ header, ...grow, text: ({ result }: Task) => textOf(result) })),
    { header: 'Error', width: 'grow', minimum: 130, text: errorOf },
    {
      header: 'Phone',
      ...grow,
      text: ({ device_id: id }) => (id === null ? '' : (phones.get(id) ?? id)),
    },
    { header: 'Runs', width: 'fit', minimum: 90, content: (task) => <Attempts task={task} /> },
  ];
}

const maxLinks = 3;

/** Links to the newest runs of a task. */
function Attempts({ task: { attempts } }: { task: Task }) {
  if (attempts.length === 0) return 'none yet';
  const first = Math.max(0, attempts.length - maxLinks);
  return (
    <span className={styles['runs']}>
      {attempts.slice(first).map(({ run_id: runId, reason }, at) => (
        <Link key={runId} to="/runs/$runId" params={{ runId }} title={reason}>
          {attempts.length === 1 ? 'Open run' : `Run ${first + at + 1}`}
        </Link>
      ))}
    </span>
  );
}

/** Returns names of phones by device ID. */
function usePhoneNames(tasks: readonly Task[]): ReadonlyMap<string, string> {
  const devices = useDevicesById();
  return useMemo(() => {
    const used = new Set(tasks.flatMap(({ device_id: id }) => devices.get(id ?? '') ?? []));
    return new Map(
      [...used].map((device) => [device.device_id, distinctName(device, devices.values())] as const),
    );
  }, [tasks, devices]);
}

/** Returns the error of a task. A task that is retried still has the error of its last attempt. */
function errorOf({ status, error }: Task): string {
  if (error === null) return '';
  const isTriedAgain = status === 'waiting' || status === 'running';
  return isTriedAgain ? `Retried after: ${error.message}` : error.message;
}

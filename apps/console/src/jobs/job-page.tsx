import { type Job, type PhoneSettings, type Task, textsOfPhoneSettings } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { useMissingScope } from '../api/me.ts';
import { distinctName, useDevicesById } from '../devices/device.tsx';
import { Button, buttonClass } from '../parts/button.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import { countsText, JobStatusMark, phonesText, jobQuery, tasksQuery } from './job.tsx';
import styles from './jobs.module.css';

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
      parents={<Link to="/jobs">Jobs</Link>}
      aside={<JobStatusMark status={job.status} />}
      actions={<Actions job={job} />}
    >
      <div className={styles['page']}>
        <section className={styles['section']}>
          <p role="status">
            {countsText(job)}. {job.reason}
            {job.place !== null && job.place > 0 && ` ${job.place} of your tasks begin before it.`}
          </p>
          <p className={styles['quiet']}>
            Phones: {phonesText(job)}. Made <Moment at={job.created_at} /> by {job.user.name}
            {job.schedule_id === null ? '.' : ' by a schedule.'}
            {job.film && ' Each run has a film.'}
            {job.phone_settings !== null && ` Phone settings: ${settingsText(job.phone_settings)}.`}
          </p>
          {tasks === undefined &&
            (error === null ? (
              <Loading rows={6} />
            ) : (
              <Failure error={error} onRetry={() => void refetch()} />
            ))}
          {tasks !== undefined && <TaskTable tasks={tasks} />}
        </section>
      </div>
    </Page>
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
  const phones = usePhoneNames(tasks);
  return (
    <SettingsTable label="Tasks" columns={['No.', 'State', 'Input', 'Phone', 'Attempts', 'Result']}>
      {tasks.map((task) => (
        <Row key={task.id} task={task} phone={phones.get(task.device_id ?? '') ?? task.device_id ?? ''} />
      ))}
    </SettingsTable>
  );
}

/** By device ID. */
function usePhoneNames(tasks: readonly Task[]): ReadonlyMap<string, string> {
  const devices = useDevicesById();
  return useMemo(() => {
    const used = new Set(tasks.flatMap(({ device_id: id }) => devices.get(id ?? '') ?? []));
    return new Map(
      [...used].map((device) => [device.device_id, distinctName(device, devices.values())] as const),
    );
  }, [tasks, devices]);
}

const cellText = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value);

/** A task that is tried again still has the error of the attempt before. */
function outcomeOf({ status, error, result }: Task): string {
  if (error === null) return cellText(result);
  const isTriedAgain = status === 'waiting' || status === 'running';
  return isTriedAgain ? `Tried again after: ${error.message}` : error.message;
}

function Row({ task, phone }: { task: Task; phone: string }) {
  const outcome = outcomeOf(task);
  return (
    <tr>
      <td>{task.number}</td>
      <td>
        <JobStatusMark status={task.status} />
      </td>
      <td className={styles['text']} title={cellText(task.input)}>
        {cellText(task.input)}
      </td>
      <td className={styles['quiet']}>{phone}</td>
      <td title={task.attempts.map(({ reason }) => reason).join('\n')}>
        {task.run_id === null ? (
          '–'
        ) : (
          <Link to="/runs/$runId" params={{ runId: task.run_id }}>
            {task.attempts.length}
          </Link>
        )}
      </td>
      <td className={styles['text']} title={outcome}>
        {outcome}
      </td>
    </tr>
  );
}

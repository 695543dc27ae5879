import type { Job } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading, InlineFailure } from '../parts/states.tsx';
import { Age } from '../parts/time.tsx';
import { countsText, JobStatusMark, phonesText } from './job-status.tsx';
import styles from './jobs.module.css';
import { Pools } from './pools.tsx';
import { jobsQuery } from './queries.ts';
import { Schedules } from './schedules.tsx';
import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { noWork, WorkFields, workBody, workProblem } from './work-fields.tsx';

export function JobsPage() {
  const { data, error, refetch } = useQuery(jobsQuery);
  const missing = useMissingScope('launch');
  const [isNew, setNew] = useState(false);
  return (
    <Page
      title="Jobs"
      actions={
        <Button look="primary" reason={missing} onClick={() => setNew(true)}>
          New job…
        </Button>
      }
    >
      <div className={styles['page']}>
        <section className={styles['section']}>
          <div className={styles['head']}>
            <h2>Jobs</h2>
          </div>
          {data === undefined &&
            (error === null ? (
              <Loading rows={4} />
            ) : (
              <Failure error={error} onRetry={() => void refetch()} />
            ))}
          {data?.length === 0 && (
            <p className={styles['quiet']}>
              A job runs a project on phones as soon as they are free, once for each row of a table.
            </p>
          )}
          {data !== undefined && data.length > 0 && <JobTable jobs={data} />}
        </section>
        <Schedules />
        <Pools />
      </div>
      {isNew && <NewJob onClose={() => setNew(false)} />}
    </Page>
  );
}

const JobTable = ({ jobs }: { jobs: readonly Job[] }) => (
  <SettingsTable label="List of jobs" columns={['Project', 'State', 'Tasks', 'Phones', 'Made']}>
    {jobs.map((job) => (
      <tr key={job.id}>
        <td>
          <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
            {job.project_name}
          </Link>
        </td>
        <td>
          <JobStatusMark status={job.status} />
        </td>
        <td className={styles['quiet']}>{countsText(job)}</td>
        <td className={styles['quiet']}>{phonesText(job)}</td>
        <td className={styles['quiet']}>
          <Age since={job.created_at} /> ago
        </td>
      </tr>
    ))}
  </SettingsTable>
);

/** A project on phones as soon as they are free, one run for each row of a file. */
function NewJob({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [work, setWork] = useState(noWork);
  const [file, setFile] = useState<File>();
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const inputs = file === undefined ? {} : { inputs_text: await file.text() };
      const { job } = await call('POST /api/v2/jobs', { body: { ...workBody(work), ...inputs } });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
      await navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
    } catch (failure) {
      setError(failure);
    }
  };
  const countHint = file === undefined ? 'So many runs, each on another phone' : 'The most phones at once';
  return (
    <ActionDialog title="New job" action="Create" reason={workProblem(work)} onAct={create} onClose={onClose}>
      <WorkFields value={work} countHint={countHint} onChange={setWork} />
      <Field label="Inputs" hint="CSV with a line of names, or JSON lines: a run for each row">
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".csv,.jsonl,.ndjson,text/csv"
            onChange={({ target }) => setFile(target.files?.[0])}
          />
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

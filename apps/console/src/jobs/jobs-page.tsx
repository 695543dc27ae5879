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
import { countsText, JobStatusMark, phonesText, jobsQuery } from './job.tsx';
import styles from './jobs.module.css';
import { Schedules } from './schedules.tsx';
import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Field, TextField } from '../parts/field.tsx';
import { noWork, WorkFields, workBody, workProblem } from './work-fields.tsx';
import { poolsQuery } from '../devices/device.tsx';
import { notify } from '../parts/notices.tsx';
import { RemovalButton } from '../parts/removal-button.tsx';

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

/** Saved selectors. */
function Pools() {
  const { data: pools = [] } = useQuery(poolsQuery);
  const queries = useQueryClient();
  const missing = useMissingScope('edit');
  const [isNew, setNew] = useState(false);
  const remove = async (name: string): Promise<void> => {
    await call('DELETE /api/v2/pools/:name', { params: { name } });
    notify(`The pool “${name}” is deleted`);
    await queries.invalidateQueries({ queryKey: poolsQuery.queryKey });
  };
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>Pools</h2>
        <Button reason={missing} onClick={() => setNew(true)}>
          New pool…
        </Button>
      </div>
      {pools.length === 0 ? (
        <p className={styles['quiet']}>A pool is a saved selector, such as country=de,model~Pixel.</p>
      ) : (
        <SettingsTable label="Pools" columns={['Name', 'Selector', 'Phones']} hasActions>
          {pools.map(({ name, selector, devices }) => (
            <tr key={name}>
              <td>
                <Link to="/devices" search={{ labels: `pool=${name}` }}>
                  {name}
                </Link>
              </td>
              <td>
                <code>{selector}</code>
              </td>
              <td className={styles['quiet']}>
                {devices.ready} of {devices.total} ready
              </td>
              <td>
                <RemovalButton
                  name={`the pool “${name}”`}
                  label={`Delete pool ${name}`}
                  reason={missing}
                  onRemove={() => remove(name)}
                >
                  <p>Schedules that name it skip their turns. Its phones stay. This cannot be undone.</p>
                </RemovalButton>
              </td>
            </tr>
          ))}
        </SettingsTable>
      )}
      {isNew && <NewPool onClose={() => setNew(false)} />}
    </section>
  );
}

function NewPool({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [selector, setSelector] = useState('');
  const [error, setError] = useState<unknown>(null);
  const save = async (): Promise<void> => {
    try {
      await call('PUT /api/v2/pools/:name', { params: { name: name.trim() }, body: { selector } });
      await queries.invalidateQueries({ queryKey: poolsQuery.queryKey });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const reason = name.trim() === '' || selector === '' ? 'A pool has a name and a selector.' : undefined;
  return (
    <ActionDialog title="New pool" action="Save" reason={reason} onAct={save} onClose={onClose}>
      <TextField label="Name" value={name} onChange={setName} />
      <TextField
        label="Selector"
        hint="Such as country=de,model~Pixel"
        value={selector}
        onChange={setSelector}
      />
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

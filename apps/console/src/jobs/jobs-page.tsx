import type { Job } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { Age } from '../parts/time.tsx';
import { countsText, JobStatusMark, phonesText } from './job-status.tsx';
import styles from './jobs.module.css';
import { NewJob } from './new-job.tsx';
import { Pools } from './pools.tsx';
import { jobsQuery } from './queries.ts';
import { Schedules } from './schedules.tsx';

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

import type { RunDetail } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { useMissingScope } from '../api/me.ts';
import { deviceName } from '../devices/device-name.ts';
import { useDevice } from '../devices/queries.ts';
import { LaunchDialog } from '../launches/launch-dialog.tsx';
import { LogView } from '../logs/log-view.tsx';
import { useRunLog } from '../logs/use-run-log.ts';
import { Button } from '../parts/button.tsx';
import { Copyable } from '../parts/copy.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { Page } from '../parts/page.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { Elapsed, Moment } from '../parts/time.tsx';
import { localAddress } from '../records/local-address.ts';
import { runQuery } from './queries.ts';
import styles from './run-page.module.css';
import { isActive, RunStatusMark } from './run-status.tsx';
import { Stack } from './stack.tsx';

const route = getRouteApi('/runs/$runId');

export function RunPage() {
  const { runId } = route.useParams();
  const { data: run, error, refetch } = useQuery(runQuery(runId));
  if (run === undefined)
    return (
      <Page title="Run">
        {error === null ? <Loading /> : <Failure error={error} onRetry={() => void refetch()} />}
      </Page>
    );
  return <Shown key={runId} run={run} />;
}

function Shown({ run }: { run: RunDetail }) {
  const navigate = useNavigate();
  const log = useRunLog(run.run_id, isActive(run));
  const isProject = run.launch_id === null;
  const openLine = (path: string, line: number): void =>
    void navigate({
      to: '/projects/$projectId',
      params: { projectId: run.automation_id },
      search: { file: path, line },
    });
  return (
    <Page
      title={isProject ? (run.project_name ?? 'Project') : 'Direct code'}
      aside={<RunStatusMark run={run} />}
      actions={<Actions run={run} />}
    >
      <div className={styles['columns']}>
        <Facts run={run} />
        <div className={styles['log']}>
          <LogView log={log} isLive={isActive(run)} onOpenLine={isProject ? openLine : undefined} />
        </div>
      </div>
    </Page>
  );
}

function Actions({ run }: { run: RunDetail }) {
  const queries = useQueryClient();
  const missing = useMissingScope('launch');
  const device = useDevice(run.device_id);
  const [isBusy, setBusy] = useState(false);
  const [isAgain, setAgain] = useState(false);
  const stop = async (): Promise<void> => {
    setBusy(true);
    try {
      await call('POST /api/v2/runs/:id/stop', { params: { id: run.run_id } });
    } catch (error) {
      notifyFailure('The run was not stopped', error);
    }
    await queries.invalidateQueries({ queryKey: ['run', run.run_id] });
    setBusy(false);
  };
  return (
    <>
      {isActive(run) && (
        <Button look="danger" reason={missing} isBusy={isBusy} onClick={() => void stop()}>
          Stop
        </Button>
      )}
      {run.launch_id === null && device !== undefined && (
        <Button reason={missing} onClick={() => setAgain(true)}>
          Run again…
        </Button>
      )}
      {isAgain && device !== undefined && (
        <LaunchDialog
          devices={[device]}
          projectId={run.automation_id}
          {...(run.parameters === null ? {} : { parameters: run.parameters.automation_parameters })}
          onClose={() => setAgain(false)}
        />
      )}
    </>
  );
}

function Facts({ run }: { run: RunDetail }) {
  return (
    <div className={styles['facts']}>
      {run.error !== null && (
        <RunErrorBox error={run.error} projectId={run.launch_id === null ? run.automation_id : undefined} />
      )}
      <Details run={run} />
      {run.records.length > 0 && (
        <section>
          <h2>Records</h2>
          {run.records.length > 1 && (
            <p>
              <Link to="/records" search={{ run: run.run_id, status: 'any' }}>
                Review all {run.records.length}
              </Link>
            </p>
          )}
          <ul>
            {run.records.map(({ record_id, type }) => (
              <li key={record_id}>
                <Link to="/records" search={{ record: record_id, run: run.run_id, status: 'any' }}>
                  {type} · open in review
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {run.parameters !== null && Object.keys(run.parameters.automation_parameters).length > 0 && (
        <Json title="Parameters" value={run.parameters.automation_parameters} />
      )}
      {run.parameters !== null && Object.keys(run.parameters.job_variables).length > 0 && (
        <Json title="Job variables" value={run.parameters.job_variables} />
      )}
      {run.result !== null && run.result !== undefined && <Json title="Result" value={run.result} />}
      {run.last_screen !== null && <LastScreen screen={run.last_screen.screen} />}
    </div>
  );
}

interface RunErrorBoxProps {
  error: NonNullable<RunDetail['error']>;
  projectId: string | undefined;
}

const RunErrorBox = ({ error, projectId }: RunErrorBoxProps) => (
  <section className={styles['error']}>
    <h2>
      <code>{error.code}</code>
    </h2>
    <p>{error.message}</p>
    {typeof error.stack === 'string' && (
      <Stack stack={error.stack} projectId={projectId} className={styles['stack']} />
    )}
  </section>
);

function Details({ run }: { run: RunDetail }) {
  const device = useDevice(run.device_id);
  return (
    <section>
      <h2>Run</h2>
      <dl className={styles['list']}>
        <dt>Phone</dt>
        <dd>
          <Link to="/devices/$deviceId" params={{ deviceId: run.device_id }}>
            {device === undefined ? run.device_id : deviceName(device)}
          </Link>
        </dd>
        <dt>Started</dt>
        <dd>
          <Moment at={run.started_at ?? run.created_at} />
        </dd>
        <dt>Took</dt>
        <dd>{run.started_at === null ? '–' : <Elapsed from={run.started_at} to={run.ended_at} />}</dd>
        <dt>By</dt>
        <dd>
          {run.launched_by.user_name ?? run.launched_by.user_id}
          {run.launched_by.token_name !== null && ` · ${run.launched_by.token_name}`}
        </dd>
        {run.launch_id === null && (
          <>
            <dt>Version</dt>
            <dd>
              <code>{run.commit?.slice(0, 8) ?? 'not committed'}</code>
              {run.dirty === true && ' with changes'}
            </dd>
          </>
        )}
        <dt>ID</dt>
        <dd>
          <Copyable text={run.run_id} label="Copy the ID" />
        </dd>
      </dl>
    </section>
  );
}

const Json = ({ title, value }: { title: string; value: unknown }) => (
  <section>
    <h2>{title}</h2>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
    <pre className={styles['json']} tabIndex={0} role="region" aria-label={title}>
      {JSON.stringify(value, null, 2)}
    </pre>
  </section>
);

function LastScreen({ screen }: { screen: NonNullable<RunDetail['last_screen']>['screen'] }) {
  const { screenshotUrl } = screen.screenshot;
  return (
    <section>
      <h2>Last screen</h2>
      <figure className={styles['picture']}>
        {screenshotUrl !== null && (
          <img src={localAddress(screenshotUrl)} alt={`Last screen: ${screen.screenState}`} />
        )}
        <figcaption>
          {screen.screenState}
          {screen.nextStage !== '' && `, on the way to ${screen.nextStage}`}
        </figcaption>
      </figure>
    </section>
  );
}

import type { RunDetail } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call, localAddress } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { DownloadLog, useRunLog } from '../logs/run-log.tsx';
import { Button } from '../../parts/button.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { Page, type PageParent } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { runQuery, runCodeQuery, isActive, RunStatusMark, type RecordScreen, StageAndState } from './run.tsx';
import { failureWords } from './failure-words.ts';
import { Details, Siblings, RunFiles } from './run-details.tsx';
import { TraceView } from '../trace/trace-view.tsx';
import styles from './run-page.module.css';
import { Stack, stackWithoutMessage } from './stack.tsx';
import { isReady, useDevice } from '../../fleet/devices/device.tsx';
import { LaunchDialog } from '../launches/launch-dialog.tsx';
import { launchCode } from '../launches/use-launch.ts';

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
  const log = useRunLog(run.run_id);
  const isProject = run.launch_id === null;
  const { step } = route.useSearch();
  const showStep = (chosen: number): void =>
    void navigate({
      to: '/runs/$runId',
      params: { runId: run.run_id },
      search: { step: chosen },
      replace: true,
    });
  const openLine = (path: string, line: number): void =>
    void navigate({
      to: '/projects/$projectId',
      params: { projectId: run.automation_id },
      search: { file: path, line },
    });
  return (
    <Page
      title={run.name ?? (isProject ? 'Project' : 'Direct code')}
      parents={parentsOf(run)}
      aside={<RunStatusMark run={run} />}
      actions={<Actions run={run} />}
    >
      <div className={styles['columns']}>
        <Facts run={run} />
        <div className={styles['trace']}>
          <TraceView
            run={run}
            log={log}
            chosen={step}
            onChoose={showStep}
            onOpenLine={isProject ? openLine : undefined}
          />
        </div>
      </div>
    </Page>
  );
}

/** Returns the pages that the run belongs to. */
const parentsOf = (run: RunDetail): readonly PageParent[] =>
  run.launch_id === null
    ? [
        {
          label: run.project_name ?? 'Project',
          link: { to: '/projects/$projectId', params: { projectId: run.automation_id } },
        },
        {
          label: 'All runs of this project',
          link: { to: '/runs', search: { automation: run.automation_id } },
        },
      ]
    : [{ label: 'Runs', link: { to: '/runs' } }];

function Actions({ run }: { run: RunDetail }) {
  const queries = useQueryClient();
  const missing = useMissingScope('launch');
  const [isBusy, setBusy] = useState(false);
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
      <DownloadLog run={run} />
      <RunAgain run={run} />
    </>
  );
}

function Facts({ run }: { run: RunDetail }) {
  return (
    <div className={styles['facts']}>
      {run.error !== null && (
        <RunErrorBox error={run.error} projectId={run.launch_id === null ? run.automation_id : undefined} />
      )}
      {run.outcome === 'out_of_steps' && run.last_screen !== null && (
        <OutOfStepsBox screen={run.last_screen.screen} />
      )}
      <Details run={run} />
      <Siblings run={run} />
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
      <RunFiles run={run} />
      {run.parameters !== null && Object.keys(run.parameters.automation_parameters).length > 0 && (
        <Json title="Parameters" value={run.parameters.automation_parameters} />
      )}
      {run.parameters?.phone_settings !== undefined && (
        <Json title="Phone settings" value={run.parameters.phone_settings} />
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

function RunErrorBox({ error, projectId }: RunErrorBoxProps) {
  const stack = stackWithoutMessage(error);
  return (
    <section className={styles['error']} aria-label="What happened">
      <h2>{failureWords(error.code)}</h2>
      <p>{error.message}</p>
      <p className={styles['errorCode']}>
        <code>{error.code}</code>
      </p>
      {stack !== '' && <Stack stack={stack} projectId={projectId} className={styles['stack']} />}
    </section>
  );
}

const OutOfStepsBox = ({ screen }: { screen: RecordScreen }) => (
  <section className={styles['outOfSteps']} aria-label="What happened">
    <h2>Out of steps</h2>
    <p>
      <StageAndState screen={screen} />
    </p>
  </section>
);

const Json = ({ title, value }: { title: string; value: unknown }) => (
  <section>
    <h2>{title}</h2>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
    <pre className={styles['json']} tabIndex={0} role="region" aria-label={title}>
      {JSON.stringify(value, null, 2)}
    </pre>
  </section>
);

function LastScreen({ screen }: { screen: RecordScreen }) {
  const { screenshotUrl } = screen.screenshot;
  return (
    <section>
      <h2>Last screen</h2>
      <figure className={styles['picture']}>
        {screenshotUrl !== null && (
          <img src={localAddress(screenshotUrl)} alt={`Last screen: ${screen.screenState}`} />
        )}
        <figcaption>
          <StageAndState screen={screen} />
        </figcaption>
      </figure>
    </section>
  );
}

/**
 * Launches the same code on the same phone with the same parameters. The parameters of a project can be changed
 * first.
 */
const RunAgain = ({ run }: { run: RunDetail }) =>
  run.launch_id === null ? <ProjectAgain run={run} /> : <CodeAgain run={run} />;

function ProjectAgain({ run }: { run: RunDetail }) {
  const missing = useMissingScope('launch');
  const device = useDevice(run.device_id);
  const [isOpen, setOpen] = useState(false);
  if (device === undefined) return null;
  return (
    <>
      <Button reason={missing} onClick={() => setOpen(true)}>
        Run again…
      </Button>
      {isOpen && (
        <LaunchDialog
          devices={[device]}
          projectId={run.automation_id}
          {...(run.parameters === null ? {} : { parameters: run.parameters.automation_parameters })}
          phoneSettings={run.parameters?.phone_settings}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function CodeAgain({ run }: { run: RunDetail }) {
  const navigate = useNavigate();
  const missing = useMissingScope('launch');
  const device = useDevice(run.device_id);
  const { data: code } = useQuery(runCodeQuery(run.run_id));
  const [isBusy, setBusy] = useState(false);
  if (device === undefined || code === undefined) return null;
  const notKept = code === null || run.parameters === null;
  const again = async (): Promise<void> => {
    setBusy(true);
    try {
      const [row] = await launchCode(code ?? '', run.device_id, {
        ...(run.name !== null && { name: run.name }),
        automationParameters: run.parameters?.automation_parameters ?? {},
        jobVariables: run.parameters?.job_variables ?? {},
        ...(run.parameters?.phone_settings !== undefined && {
          phone_settings: run.parameters.phone_settings,
        }),
      });
      if (typeof row?.run_id === 'string')
        await navigate({ to: '/runs/$runId', params: { runId: row.run_id } });
    } catch (error) {
      notifyFailure('The code was not started', error);
    }
    setBusy(false);
  };
  const reason =
    missing ??
    (notKept ? 'Its code or its parameters exceed 1 MiB and were not stored.' : undefined) ??
    (isReady(device) ? undefined : device.reason);
  return (
    <Button reason={reason} isBusy={isBusy} onClick={() => void again()}>
      Run again
    </Button>
  );
}

import type { Device, Project } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';

import { ApiFailure } from '../api/api-failure.ts';
import { useMissingScope } from '../api/me.ts';
import { deviceName } from '../devices/device-name.ts';
import { DeviceStateMark, isReady } from '../devices/device-state.tsx';
import { devicesQuery } from '../devices/queries.ts';
import { lastParameters } from '../launches/last-parameters.ts';
import { OutcomeList } from '../launches/outcome-list.tsx';
import type { OutcomeRow } from '../launches/outcomes.ts';
import { fieldsOf, initialValues } from '../launches/parameter-fields.ts';
import { ParametersForm, useParameterSchema } from '../launches/parameters-form.tsx';
import { useLaunch } from '../launches/use-launch.ts';
import { LogView } from '../logs/log-view.tsx';
import { useRunLog } from '../logs/use-run-log.ts';
import { Button } from '../parts/button.tsx';
import { InlineFailure } from '../parts/states.tsx';
import { runQuery } from '../runs/queries.ts';
import { isActive, RunStatusMark } from '../runs/run-status.tsx';
import styles from './project.module.css';

interface RunPaneProps {
  project: Project;
  /** Another number each time that the editor wants a run. */
  wanted: number;
  /** Saves; false when that did not work. */
  onBeforeRun: () => Promise<boolean>;
  onOpenLine: (path: string, line: number) => void;
}

const keyOf = (projectId: string): string => `phalanx.phones.${projectId}`;

/** The phones that were chosen for this project, of those that are there; where there is one, it is that. */
function usePhones(projectId: string, devices: readonly Device[]) {
  const [kept, setKept] = useState(() => localStorage.getItem(keyOf(projectId))?.split(' '));
  const ids = useMemo(
    () => kept ?? (devices.length === 1 ? devices.map((device) => device.device_id) : []),
    [kept, devices],
  );
  const known = useMemo(() => devices.filter((device) => ids.includes(device.device_id)), [devices, ids]);
  const toggle = (id: string): void => {
    const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
    localStorage.setItem(keyOf(projectId), next.join(' '));
    setKept(next);
  };
  return { chosen: known, toggle };
}

export function RunPane({ project, wanted, onBeforeRun, onOpenLine }: RunPaneProps) {
  const { data: all = [] } = useQuery(devicesQuery);
  const usable = all.filter(({ role }) => role !== 'view');
  const { chosen, toggle } = usePhones(project.id, usable);
  const launch = useLaunch();
  const schema = useParameterSchema(project.id);
  const [given, setGiven] = useState<Record<string, unknown> | undefined | 'not yet'>('not yet');
  const [isSaving, setSaving] = useState(false);
  const missing = useMissingScope('launch');
  const first = useMemo(
    () =>
      schema === undefined ? {} : initialValues(fieldsOf(schema ?? '') ?? [], lastParameters(project.id)),
    [schema, project.id],
  );
  const values = given === 'not yet' ? first : given;
  const unready = chosen.find((device) => !isReady(device));
  const reason =
    missing ??
    (project.role === 'shared_viewer' ? 'The project is shared with you for looking only.' : undefined) ??
    (chosen.length === 0 ? 'Choose a phone.' : undefined) ??
    (unready === undefined ? undefined : `${deviceName(unready)}: ${unready.reason}`) ??
    (values === undefined ? 'The parameters are not a JSON object.' : undefined);
  const run = async (): Promise<void> => {
    if (reason !== undefined || isSaving || launch.isBusy) return;
    setSaving(true);
    const isSaved = await onBeforeRun();
    setSaving(false);
    if (isSaved) await launch.start(project.id, chosen, values ?? {});
  };
  useWanted(wanted, () => void run());
  return (
    <section className={styles['run']} data-part="run" aria-label="Run">
      <div className={styles['paneHead']}>
        <h2>Run</h2>
        <Button
          look="primary"
          isBusy={isSaving || launch.isBusy}
          reason={reason}
          title="Ctrl+Enter in the editor"
          onClick={() => void run()}
        >
          Run{chosen.length > 1 ? ` on ${chosen.length}` : ''}
        </Button>
      </div>
      <div className={styles['runForm']}>
        <Phones devices={usable} chosen={chosen} onToggle={toggle} />
        {schema !== undefined && (
          <ParametersForm schema={schema} values={values ?? first} onChange={setGiven} />
        )}
      </div>
      {launch.error !== null && <InlineFailure error={launch.error} />}
      {launch.error instanceof ApiFailure && launch.rows !== undefined && <OutcomeList rows={launch.rows} />}
      {launch.rows !== undefined && launch.error === null && (
        <Started rows={launch.rows} onOpenLine={onOpenLine} />
      )}
    </section>
  );
}

function useWanted(wanted: number, run: () => void): void {
  const last = useRef(wanted);
  useEffect(() => {
    if (last.current === wanted) return;
    last.current = wanted;
    run();
  });
}

interface PhonesProps {
  devices: readonly Device[];
  chosen: readonly Device[];
  onToggle: (id: string) => void;
}

/** As many as a person chooses by hand; more are launched from the fleet. */
const mostListed = 200;

const Phones = ({ devices, chosen, onToggle }: PhonesProps) => (
  <div>
    <h3>Phones</h3>
    {devices.length === 0 ? (
      <p>
        None is there yet: <Link to="/start">first steps</Link>.
      </p>
    ) : (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      <div className={styles['phones']} tabIndex={0} role="group" aria-label="Phones to run on">
        {devices.slice(0, mostListed).map((device) => (
          <label key={device.device_id} className={styles['phone']}>
            <input
              type="checkbox"
              checked={chosen.includes(device)}
              onChange={() => onToggle(device.device_id)}
            />
            <span>{deviceName(device)}</span>
            <DeviceStateMark state={device.state} />
          </label>
        ))}
      </div>
    )}
  </div>
);

/** The runs of the last launch, with the log of one of them. */
function Started({
  rows,
  onOpenLine,
}: {
  rows: readonly OutcomeRow[];
  onOpenLine: RunPaneProps['onOpenLine'];
}) {
  const runs = rows.filter((row) => row.runId !== null);
  const [chosen, setChosen] = useState<string>();
  const current = runs.find(({ runId }) => runId === chosen) ?? runs[0];
  if (current === undefined) return <OutcomeList rows={rows} />;
  return (
    <div className={styles['result']}>
      {runs.length > 1 && (
        <div className={styles['runsOf']} role="tablist" aria-label="Phones of the run">
          {runs.map(({ device, runId }) => (
            <button
              key={runId}
              type="button"
              role="tab"
              aria-selected={runId === current.runId}
              className={styles['runTab']}
              onClick={() => setChosen(runId ?? undefined)}
            >
              {deviceName(device)}
            </button>
          ))}
        </div>
      )}
      <RunResult key={current.runId} runId={current.runId ?? ''} onOpenLine={onOpenLine} />
    </div>
  );
}

function RunResult({ runId, onOpenLine }: { runId: string; onOpenLine: RunPaneProps['onOpenLine'] }) {
  const { data: run } = useQuery(runQuery(runId));
  const active = run === undefined || isActive(run);
  const log = useRunLog(runId, active);
  return (
    <>
      <div className={styles['runsOf']}>
        {run !== undefined && <RunStatusMark run={run} />}
        <span className={styles['space']} />
        <Link to="/runs/$runId" params={{ runId }}>
          Open run
        </Link>
      </div>
      {run?.error !== null && run?.error !== undefined && (
        <InlineFailure error={new Error(run.error.message)} />
      )}
      <div className={styles['resultLog']}>
        <LogView log={log} isLive={active} isNarrow onOpenLine={onOpenLine} />
      </div>
    </>
  );
}

import { ServiceError } from '@phalanx/client/service-errors';
import type { Device, Project } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';

import { useMissingScope } from '../../api/me.ts';
import {
  deviceName,
  distinctName,
  DeviceStateMark,
  isReady,
  devicesQuery,
} from '../../fleet/devices/device.tsx';
import { lastParameters, type useLaunch } from '../../runs/launches/use-launch.ts';
import { OutcomeList } from '../../runs/launches/outcome-list.tsx';
import { fieldsOf, initialValues } from '../../runs/launches/parameter-fields.ts';
import {
  ParametersForm,
  useParameterSchema,
  useParameterProblems,
} from '../../runs/launches/parameters-form.tsx';
import { Button } from '../../parts/button.tsx';
import { useRemembered } from '../../parts/splitter.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import type { CodeSink } from './editor/code-editor.tsx';
import { PhonePane } from './phone/phone-pane.tsx';
import styles from './project.module.css';

/** Requested run: the project, or the open file's code on its own. */
export interface WantedRun {
  readonly code: string | undefined;
}

interface RunPaneProps {
  project: Project;
  /** Run requested by the editor. A new object requests it again. */
  wanted: WantedRun | undefined;
  sink: CodeSink;
  /** Saves the files. Resolves with false on failure. */
  onBeforeRun: () => Promise<boolean>;
  launch: ReturnType<typeof useLaunch>;
  /** Content on the edge of the pane, such as its splitter. */
  children: ReactNode;
}

const keyOf = (projectId: string): string => `phalanx.phones.${projectId}`;

const onlyOne = (devices: readonly Device[]): string[] =>
  devices.length === 1 ? devices.map((device) => device.device_id) : [];

/**
 * Returns the available phones that were chosen for this project. Default: the accepted phone, if there is only one.
 */
function usePhones(projectId: string, devices: readonly Device[]) {
  const [kept, setKept] = useState(() => localStorage.getItem(keyOf(projectId))?.split(' '));
  const ids = useMemo(() => kept ?? onlyOne(devices.filter(({ accepted }) => accepted)), [kept, devices]);
  const known = useMemo(() => devices.filter((device) => ids.includes(device.device_id)), [devices, ids]);
  const toggle = (id: string): void => {
    const next = ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
    localStorage.setItem(keyOf(projectId), next.join(' '));
    setKept(next);
  };
  return { chosen: known, toggle };
}

export function RunPane({ project, wanted, sink, onBeforeRun, launch, children }: RunPaneProps) {
  const { data: all = [] } = useQuery(devicesQuery);
  const usable = all.filter(({ role }) => role !== 'view');
  const { chosen, toggle } = usePhones(project.id, usable);
  const schema = useParameterSchema(project.id);
  const [given, setGiven] = useState<Record<string, unknown> | undefined | 'not yet'>('not yet');
  const [isSaving, setSaving] = useState(false);
  const missing = useMissingScope('launch');
  const form = useRemembered('phalanx.editor.run');
  const first = useMemo(
    () =>
      schema === undefined ? {} : initialValues(fieldsOf(schema ?? '') ?? [], lastParameters(project.id)),
    [schema, project.id],
  );
  const values = given === 'not yet' ? first : given;
  const problems = useParameterProblems(schema, values, launch);
  const unready = chosen.find((device) => !isReady(device));
  const reason =
    missing ??
    (project.role === 'shared_viewer' ? 'The project is shared with you as read-only.' : undefined) ??
    (chosen.length === 0 ? 'Choose a phone.' : undefined) ??
    (unready === undefined ? undefined : `${deviceName(unready)}: ${unready.reason}`) ??
    (values === undefined ? 'The parameters are not a JSON object.' : undefined);
  const run = async (code?: string): Promise<void> => {
    if (reason !== undefined || isSaving || launch.isBusy) return;
    if (!problems.check()) return form.open();
    if (code !== undefined) return launch.startCode(code, chosen, values ?? {});
    setSaving(true);
    const isSaved = await onBeforeRun();
    setSaving(false);
    if (isSaved) await launch.start(project.id, chosen, values ?? {});
  };
  useWanted(wanted, ({ code }) => void run(code));
  return (
    <section className={styles['run']} data-part="run" aria-label="Run">
      {children}
      <div className={styles['paneHead']}>
        <h2>Run</h2>
        <Button look="quiet" aria-expanded={form.isOpen} onClick={form.toggle}>
          {form.isOpen ? 'Hide settings' : 'Settings'}
        </Button>
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
      {form.isOpen && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <div
          className={styles['runForm']}
          data-alone={chosen.length === 0}
          tabIndex={0}
          role="group"
          aria-label="Phones and parameters"
        >
          <Phones devices={usable} isViewOnly={all.length > 0} chosen={chosen} onToggle={toggle} />
          {schema !== undefined && (
            <ParametersForm
              schema={schema}
              values={values ?? first}
              problems={problems.shown}
              onChange={(changed) => {
                problems.forget();
                setGiven(changed);
              }}
            />
          )}
        </div>
      )}
      {launch.error !== null && <InlineFailure error={launch.error} />}
      {launch.error instanceof ServiceError && launch.rows !== undefined && (
        <OutcomeList rows={launch.rows} />
      )}
      <PhonePane projectId={project.id} devices={chosen} sink={sink} />
    </section>
  );
}

function useWanted(wanted: WantedRun | undefined, run: (wanted: WantedRun) => void): void {
  const last = useRef(wanted);
  useEffect(() => {
    if (wanted === undefined || last.current === wanted) return;
    last.current = wanted;
    run(wanted);
  });
}

interface PhonesProps {
  devices: readonly Device[];
  /** Whether phones exist but the user may not launch on any of them. */
  isViewOnly: boolean;
  chosen: readonly Device[];
  onToggle: (id: string) => void;
}

/** Maximum number of phones to choose by hand; launches on more phones start from the fleet page. */
const maxListed = 200;

const Phones = ({ devices, isViewOnly, chosen, onToggle }: PhonesProps) => (
  <div>
    <h3>Phones</h3>
    {devices.length === 0 ? (
      <p>
        {isViewOnly ? (
          'The phones that you see are shared with you as view-only. Ask their owners to let you launch on them.'
        ) : (
          <>
            You have no phones yet. See <Link to="/start">First steps</Link>.
          </>
        )}
      </p>
    ) : (
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      <div className={styles['phones']} tabIndex={0} role="group" aria-label="Phones to run on">
        {devices.slice(0, maxListed).map((device) => (
          <label key={device.device_id} className={styles['phone']}>
            <input
              type="checkbox"
              checked={chosen.includes(device)}
              onChange={() => onToggle(device.device_id)}
            />
            <span title={distinctName(device, devices)}>{distinctName(device, devices)}</span>
            <DeviceStateMark state={device.state} />
          </label>
        ))}
      </div>
    )}
  </div>
);

import { ServiceError } from '@phalanx/client/service-errors';
import type { Device, PhoneSettings, Project } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { distinctName, isReady } from '../../fleet/devices/device.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, selectClass } from '../../parts/field.tsx';
import { SubmitButton } from '../../parts/form.tsx';
import { Empty, InlineFailure, Loading } from '../../parts/states.tsx';
import { projectsQuery } from '../../code/projects/project.tsx';
import { lastParameters, useLaunch } from './use-launch.ts';
import styles from './launch-dialog.module.css';
import { OutcomeList } from './outcome-list.tsx';
import { fieldsOf, initialValues } from './parameter-fields.ts';
import { ParametersForm, useParameterSchema, useParameterProblems } from './parameters-form.tsx';
import { optionsBody, optionsOf, optionsProblem, RunOptionsFields } from './run-options.tsx';

interface LaunchDialogProps {
  devices: readonly Device[];
  onClose: () => void;
  /** Project to run; chosen in the dialog when absent. */
  projectId?: string;
  /** Initial parameters. Default: those of the last launch. */
  parameters?: Record<string, unknown>;
  /** Initial settings of the phones. Default: none. */
  phoneSettings?: PhoneSettings | undefined;
}

const mayLaunch = ({ role }: Project): boolean => role !== 'shared_viewer';

export function LaunchDialog({ devices, onClose, projectId, parameters, phoneSettings }: LaunchDialogProps) {
  const { data: projects } = useQuery(projectsQuery);
  const usable = projects?.filter(mayLaunch);
  const [chosen, setChosen] = useState(projectId);
  const automationId = chosen ?? usable?.[0]?.id;
  if (usable?.length === 0)
    return (
      <Dialog title="Launch" isOpen onClose={onClose}>
        <Empty
          title="No projects to launch yet"
          action={
            <Link to="/projects" className={buttonClass('primary')}>
              Projects
            </Link>
          }
        />
      </Dialog>
    );
  if (automationId === undefined || usable === undefined) return null;
  return (
    <LaunchSheet
      key={automationId}
      {...{ devices, onClose, automationId, parameters, phoneSettings }}
      projects={usable}
      onChoose={setChosen}
    />
  );
}

interface LaunchSheetProps {
  devices: readonly Device[];
  projects: readonly Project[];
  automationId: string;
  parameters: Record<string, unknown> | undefined;
  phoneSettings: PhoneSettings | undefined;
  onChoose: (projectId: string) => void;
  onClose: () => void;
}

function LaunchSheet({ devices, projects, automationId, onChoose, onClose, ...begun }: LaunchSheetProps) {
  const { parameters } = begun;
  const launch = useLaunch();
  const schema = useParameterSchema(automationId);
  const [given, setGiven] = useState<Record<string, unknown> | undefined | 'not yet'>('not yet');
  const [isReduced, setReduced] = useState(false);
  const [options, setOptions] = useState(() => optionsOf(begun.phoneSettings));
  const unready = devices.filter((device) => !isReady(device));
  const chosen = isReduced ? devices.filter(isReady) : devices;
  const started =
    schema === undefined
      ? {}
      : initialValues(fieldsOf(schema ?? '') ?? [], parameters ?? lastParameters(automationId));
  const values = given === 'not yet' ? started : given;
  const problems = useParameterProblems(schema, values, launch);
  const launchNow = async (): Promise<void> => {
    if (problems.check()) await launch.start(automationId, chosen, values ?? {}, optionsBody(options));
  };
  const hasEnded = launch.rows !== undefined && !launch.isBusy;
  const phones = `${chosen.length} ${chosen.length === 1 ? 'phone' : 'phones'}`;
  return (
    <Dialog
      title={`Launch on ${phones}`}
      isOpen
      onClose={onClose}
      onAct={launchNow}
      foot={
        <>
          {hasEnded && launch.error !== null && (
            <Button look="quiet" onClick={launch.reset}>
              Back
            </Button>
          )}
          <Button onClick={onClose}>{hasEnded ? 'Close' : 'Cancel'}</Button>
          {!hasEnded && (
            <SubmitButton
              look="primary"
              reason={
                chosen.length === 0
                  ? 'No phone is left.'
                  : values === undefined
                    ? 'The parameters are not a JSON object.'
                    : optionsProblem(options)
              }
            >
              Launch
            </SubmitButton>
          )}
        </>
      }
    >
      {launch.rows === undefined ? (
        <>
          <Field label="Project">
            {(attributes) => (
              <select
                {...attributes}
                className={selectClass}
                value={automationId}
                onChange={({ target }) => onChoose(target.value)}
              >
                {projects.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {unready.length > 0 && !isReduced && (
            <Unready devices={unready} onLeaveOut={() => setReduced(true)} />
          )}
          {schema === undefined ? (
            <Loading rows={2} />
          ) : (
            <ParametersForm
              schema={schema}
              values={values ?? started}
              problems={problems.shown}
              onChange={(changed) => {
                problems.forget();
                setGiven(changed);
              }}
            />
          )}
          <RunOptionsFields value={options} onChange={setOptions} />
        </>
      ) : (
        <OutcomeList rows={launch.rows} />
      )}
      {launch.error !== null && <InlineFailure error={launch.error} />}
      {launch.error instanceof ServiceError && launch.error.errors.length > 0 && (
        <pre className={styles['errors']}>{launch.error.errors.join('\n')}</pre>
      )}
    </Dialog>
  );
}

/** Warns before the launch about phones that can't run now, because one of them prevents the whole launch. */
const Unready = ({ devices, onLeaveOut }: { devices: readonly Device[]; onLeaveOut: () => void }) => (
  <div className={styles['unready']}>
    <b>
      {devices.length} of them {devices.length === 1 ? 'is' : 'are'} not ready. A launch needs all phones to
      be ready.
    </b>
    <ul>
      {devices.map((device) => (
        <li key={device.device_id}>
          {distinctName(device, devices)}: {device.reason}
        </li>
      ))}
    </ul>
    <div>
      <Button onClick={onLeaveOut}>Leave {devices.length === 1 ? 'it' : 'them'} out</Button>
    </div>
  </div>
);

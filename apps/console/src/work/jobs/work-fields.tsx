import { anyPhone, type Schedule } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { fieldsOf, initialValues } from '../../runs/launches/parameter-fields.ts';
import {
  type ParameterProblems,
  ParametersForm,
  useParameterProblems,
  useParameterSchema,
} from '../../runs/launches/parameters-form.tsx';
import {
  optionsBody,
  optionsOf,
  optionsProblem,
  type RunOptions,
  RunOptionsFields,
} from '../../runs/launches/run-options.tsx';
import { Field, selectClass, TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/states.tsx';
import { projectsQuery } from '../../code/projects/project.tsx';

type Parameters = Record<string, unknown>;

/** Fields that jobs and schedules share, as entered. */
export interface WorkText {
  readonly projectId: string;
  readonly selector: string;
  readonly count: string;
  /** Parameters; undefined while the typed text is not a JSON object. */
  readonly parameters: Parameters | undefined | 'defaults';
  readonly options: RunOptions;
}

export const noWork: WorkText = {
  projectId: '',
  selector: '',
  count: '',
  parameters: 'defaults',
  options: optionsOf(),
};

export function workOf({ automation_id: projectId, work }: Schedule): WorkText {
  const { selector = '', count, parameters = {}, film = false, phone_settings: settings } = work;
  return {
    projectId,
    selector: selector === anyPhone ? '' : selector,
    count: count === undefined ? '' : String(count),
    parameters,
    options: { ...optionsOf(settings), hasFilm: film },
  };
}

export interface Work {
  readonly text: WorkText;
  readonly set: (text: WorkText) => void;
  /** Parameter schema; undefined until it is loaded. */
  readonly schema: string | null | undefined;
  readonly parameters: Parameters;
  readonly parameterProblems: ParameterProblems;
  /** Reason why the form can't be sent yet. */
  readonly problem: string | undefined;
  /** Starts showing problems with the parameters. Returns whether they can be sent. */
  readonly check: () => boolean;
  readonly body: () => ReturnType<typeof bodyOf>;
}

/** State of the form. `error` is the service's reply to the last attempt. */
export function useWork(begun: WorkText, error: unknown, reset: () => void): Work {
  const [text, set] = useState(begun);
  const schema = useParameterSchema(text.projectId === '' ? undefined : text.projectId);
  const given =
    text.parameters === 'defaults' ? initialValues(fieldsOf(schema ?? '') ?? [], {}) : text.parameters;
  const parameters = given ?? {};
  const parameterProblems = useParameterProblems(schema, given, { error, reset });
  return {
    text,
    set,
    schema,
    parameters,
    parameterProblems,
    check: parameterProblems.check,
    problem: given === undefined ? 'The parameters are not a JSON object.' : workProblem(text),
    body: () => bodyOf(text, parameters),
  };
}

interface WorkFieldsProps {
  work: Work;
  countLabel: string;
  countHint: string;
  phonesHint: string;
  /** Whether the project is fixed, because a schedule can't change its project. */
  isProjectFixed?: boolean;
}

export function WorkFields({ work, isProjectFixed = false, ...words }: WorkFieldsProps) {
  const { text, set, schema, parameters, parameterProblems } = work;
  const { data: projects = [] } = useQuery(projectsQuery);
  return (
    <>
      <Field label="Project">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            disabled={isProjectFixed}
            value={text.projectId}
            onChange={({ target }) => set({ ...text, projectId: target.value, parameters: 'defaults' })}
          >
            <option value="">Choose a project</option>
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="Phones"
        hint={words.phonesHint}
        value={text.selector}
        onChange={(selector) => set({ ...text, selector })}
      />
      <TextField
        label={words.countLabel}
        hint={words.countHint}
        value={text.count}
        onChange={(count) => set({ ...text, count })}
      />
      {text.projectId !== '' &&
        (schema === undefined ? (
          <Loading rows={2} />
        ) : (
          <ParametersForm
            key={text.projectId}
            schema={schema}
            values={parameters}
            problems={parameterProblems.shown}
            onChange={(changed) => {
              parameterProblems.forget();
              set({ ...text, parameters: changed });
            }}
          />
        ))}
      <RunOptionsFields value={text.options} onChange={(options) => set({ ...text, options })} />
    </>
  );
}

function workProblem({ projectId, count, options }: WorkText): string | undefined {
  if (projectId === '') return 'Choose a project.';
  if (count !== '' && !/^[1-9]\d{0,3}$/.test(count))
    return 'The number of phones must be a whole number of at least 1.';
  return optionsProblem(options);
}

const bodyOf = ({ projectId, selector, count, options }: WorkText, parameters: Parameters) => ({
  automation_id: projectId,
  selector: selector.trim() || anyPhone,
  ...(count === '' ? {} : { count: Number(count) }),
  parameters,
  ...optionsBody(options),
});

import { useQuery } from '@tanstack/react-query';

import {
  optionsBody,
  optionsOf,
  optionsProblem,
  type RunOptions,
  RunOptionsFields,
} from '../launches/run-options.tsx';
import { Field, selectClass, TextField } from '../parts/field.tsx';
import { projectsQuery } from '../projects/project.tsx';

/** What a job and a schedule have in common, as it is typed. */
export interface WorkText {
  readonly projectId: string;
  readonly selector: string;
  readonly count: string;
  readonly options: RunOptions;
}

export const noWork: WorkText = {
  projectId: '',
  selector: '',
  count: '',
  options: optionsOf(),
};

interface WorkFieldsProps {
  value: WorkText;
  countHint: string;
  onChange: (value: WorkText) => void;
}

export function WorkFields({ value, countHint, onChange }: WorkFieldsProps) {
  const { data: projects = [] } = useQuery(projectsQuery);
  return (
    <>
      <Field label="Project">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            value={value.projectId}
            onChange={({ target }) => onChange({ ...value, projectId: target.value })}
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
        hint="Empty: any phone. Or a selector, such as country=de,model~Pixel or pool=NAME"
        value={value.selector}
        onChange={(selector) => onChange({ ...value, selector })}
      />
      <TextField
        label="Count"
        hint={countHint}
        value={value.count}
        onChange={(count) => onChange({ ...value, count })}
      />
      <RunOptionsFields value={value.options} onChange={(options) => onChange({ ...value, options })} />
    </>
  );
}

/** Why it can't be sent yet. */
export function workProblem({ projectId, count, options }: WorkText): string | undefined {
  if (projectId === '') return 'Choose a project.';
  if (count !== '' && !/^[1-9]\d{0,3}$/.test(count)) return 'The count is a whole number from 1 on.';
  return optionsProblem(options);
}

const anyPhone = 'sdk>=1';

export const workBody = ({ projectId, selector, count, options }: WorkText) => ({
  automation_id: projectId,
  selector: selector.trim() || anyPhone,
  ...(count === '' ? {} : { count: Number(count) }),
  ...optionsBody(options),
});

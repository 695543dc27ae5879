import { ServiceError } from '@phalanx/client/transport';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';

import { call } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { Field, Input, selectClass, TextArea } from '../parts/field.tsx';
import { fieldsOf, parseObject, type ParameterField } from './parameter-fields.ts';
import styles from './parameters-form.module.css';

type Values = Record<string, unknown>;

/** `parameters.schema.json` of a project, as text; null when it has none. */
export function useParameterSchema(projectId: string | undefined): string | null | undefined {
  return useQuery({
    queryKey: ['files', projectId, 'parameters.schema.json'],
    enabled: projectId !== undefined,
    queryFn: async ({ signal }) => {
      const input = { params: { id: projectId ?? '' }, query: { path: 'parameters.schema.json' } };
      try {
        return (await call('GET /api/v2/automation/file/:id', input, { signal })).content;
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'file_not_found') return null;
        throw error;
      }
    },
  }).data;
}

interface ParametersFormProps {
  schema: string | null;
  values: Values;
  /** What is wrong, by field; shown once somebody has tried to launch. */
  problems?: ReadonlyMap<string, string> | undefined;
  /** Undefined while what is typed is no JSON object. */
  onChange: (values: Values | undefined) => void;
}

/** What the schema names, as fields; or everything as JSON. */
export function ParametersForm({ schema, values, problems, onChange }: ParametersFormProps) {
  const fields = useMemo(() => (schema === null ? undefined : fieldsOf(schema)), [schema]);
  const [isRaw, setRaw] = useState(false);
  const hasForm = fields !== undefined && fields.length > 0;
  return (
    <section className={styles['form']} aria-label="Parameters">
      <div className={styles['head']}>
        <h3>Parameters</h3>
        {hasForm && (
          <Button look="quiet" onClick={() => setRaw(!isRaw)}>
            {isRaw ? 'Form' : 'JSON'}
          </Button>
        )}
      </div>
      {hasForm && !isRaw ? (
        fields.map((field) => (
          <ParameterInput
            key={field.name}
            field={field}
            problem={problems?.get(field.name)}
            value={values[field.name]}
            onChange={(value) => {
              const { [field.name]: _old, ...rest } = values;
              onChange(value === undefined ? rest : { ...rest, [field.name]: value });
            }}
          />
        ))
      ) : (
        <RawParameters values={values} onChange={onChange} />
      )}
    </section>
  );
}

interface ParameterInputProps {
  field: ParameterField;
  problem: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

function ParameterInput({ field, problem, value, onChange }: ParameterInputProps) {
  const { title, description, kind, choices, isRequired } = field;
  if (kind === 'json') return <JsonInput {...{ field, problem, value, onChange }} />;
  if (kind === 'boolean')
    return (
      <label className={styles['check']}>
        <input type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
        {title}
      </label>
    );
  return (
    <Field label={`${title} (${isRequired ? 'required' : 'optional'})`} hint={description} problem={problem}>
      {(attributes) =>
        kind === 'choice' ? (
          <select
            {...attributes}
            className={selectClass}
            value={textOf(value)}
            onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
          >
            <option value="">–</option>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <Input
            {...attributes}
            inputMode={kind === 'number' ? 'decimal' : kind === 'integer' ? 'numeric' : 'text'}
            aria-required={isRequired}
            value={textOf(value)}
            onChange={({ target }) => onChange(typedValue(kind, target.value))}
          />
        )
      }
    </Field>
  );
}

/** What is no number yet goes to the service as it is, which says what is wrong. */
function typedValue(kind: ParameterField['kind'], text: string): unknown {
  if (text === '') return undefined;
  const isNumber = kind === 'number' || kind === 'integer';
  return isNumber && /^-?(\d+|\d*\.\d+)$/.test(text) ? Number(text) : text;
}

function JsonInput({ field, problem: given, value, onChange }: ParameterInputProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const [problem, setProblem] = useState<string>();
  return (
    <Field label={`${field.title} (JSON)`} hint={field.description} problem={problem ?? given}>
      {(attributes) => (
        <TextArea
          {...attributes}
          rows={2}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            try {
              onChange(target.value.trim() === '' ? undefined : JSON.parse(target.value));
              setProblem(undefined);
            } catch {
              setProblem('This is not JSON yet.');
            }
          }}
        />
      )}
    </Field>
  );
}

function RawParameters({ values, onChange }: Pick<ParametersFormProps, 'values' | 'onChange'>) {
  const [text, setText] = useState(JSON.stringify(values, null, 2));
  const problem = parseObject(text) === undefined ? 'This is not a JSON object yet.' : undefined;
  return (
    <Field
      label="As JSON"
      hint="The code reads it at agent.arguments.automationParameters."
      problem={problem}
    >
      {(attributes) => (
        <TextArea
          {...attributes}
          rows={3}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            onChange(parseObject(target.value));
          }}
        />
      )}
    </Field>
  );
}

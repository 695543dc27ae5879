import { ServiceError } from '@phalanx/client/service-errors';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';

import { call } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Input, selectClass, TextArea } from '../../parts/field.tsx';
import {
  fieldsOf,
  parseObject,
  type ParameterField,
  problemsOf,
  refusalsOf,
  formatOf,
  typedValue,
  type ValueRules,
} from './parameter-fields.ts';
import styles from './parameters-form.module.css';
import type { Launch } from './use-launch.ts';

type Values = Record<string, unknown>;

/** Returns `parameters.schema.json` of a project as text; null if there is none. */
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
  /** Problems by field, shown after the first attempt to launch. */
  problems?: ReadonlyMap<string, string> | undefined;
  /** Called with undefined while the typed text is not a JSON object. */
  onChange: (values: Values | undefined) => void;
}

/** Form of the parameters: fields if the schema describes them, otherwise JSON. */
export function ParametersForm({ schema, values, problems, onChange }: ParametersFormProps) {
  const fields = useMemo(() => (schema === null ? undefined : fieldsOf(schema)), [schema]);
  const [isRaw, setRaw] = useState(false);
  const form = useRef<HTMLElement>(null);
  const isWrong = problems !== undefined && problems.size > 0;
  useEffect(() => {
    if (isWrong) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [isWrong]);
  const hasForm = fields !== undefined && fields.length > 0;
  return (
    <section ref={form} className={styles['form']} aria-label="Parameters">
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
        <RawParameters values={values} problems={problems} onChange={onChange} />
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
  typeof value === 'string' || Number.isFinite(value) ? String(value) : '';

function ParameterInput({ field, problem, value, onChange }: ParameterInputProps) {
  const { description, kind, rules } = field;
  if (kind === 'list' && hasLines(value)) return <ListInput {...{ field, problem, value, onChange }} />;
  if (kind === 'json' || kind === 'list') return <JsonInput {...{ field, problem, value, onChange }} />;
  if (kind === 'boolean')
    return (
      <label className={styles['check']}>
        <input type="checkbox" checked={value === true} onChange={({ target }) => onChange(target.checked)} />
        {field.title}
      </label>
    );
  const isNumber = kind === 'number' || kind === 'integer';
  return (
    <Field label={labelOf(field)} hint={description} problem={problem}>
      {(attributes) =>
        kind === 'choice' ? (
          <select
            {...attributes}
            className={selectClass}
            aria-required={field.isRequired}
            value={textOf(value)}
            onChange={({ target }) =>
              onChange(target.value === '' ? undefined : typedValue(rules, target.value))
            }
          >
            <option value="">–</option>
            {rules.choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <Input
            {...attributes}
            {...(isNumber
              ? { type: 'number', step: kind === 'integer' ? 1 : 'any', min: rules.min, max: rules.max }
              : { type: formatOf(rules)?.type ?? 'text' })}
            aria-required={field.isRequired}
            value={textOf(value)}
            onChange={({ target }) => onChange(typedIn(target, rules))}
          />
        )
      }
    </Field>
  );
}

const labelOf = ({ title, isRequired }: ParameterField, more = ''): string =>
  `${title} (${isRequired ? 'required' : 'optional'}${more})`;

/**
 * Reads an input. Returns NaN for text that the browser can't parse as a number, because that differs from an empty
 * field.
 */
function typedIn({ validity, value }: HTMLInputElement, rules: ValueRules): unknown {
  if (validity.badInput && rules.kind !== 'text') return Number.NaN;
  return value === '' ? undefined : typedValue(rules, value);
}

/** Whether the list can be entered as one value per line. */
const hasLines = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every((one) => typeof one === 'number' || (typeof one === 'string' && !one.includes('\n'))));

function ListInput({ field, problem, value, onChange }: ParameterInputProps) {
  const [text, setText] = useState(Array.isArray(value) ? value.join('\n') : '');
  return (
    <Field label={labelOf(field, ', one per line')} hint={field.description} problem={problem}>
      {(attributes) => (
        <TextArea
          {...attributes}
          rows={3}
          aria-required={field.isRequired}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const lines = target.value.split('\n').filter((line) => line.trim() !== '');
            onChange(lines.length === 0 ? undefined : lines.map((line) => typedValue(field.itemRules, line)));
          }}
        />
      )}
    </Field>
  );
}

function JsonInput({ field, problem: given, value, onChange }: ParameterInputProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const [problem, setProblem] = useState<string>();
  return (
    <Field label={labelOf(field, ', JSON')} hint={field.description} problem={problem ?? given}>
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

function RawParameters({
  values,
  problems = new Map(),
  onChange,
}: Pick<ParametersFormProps, 'values' | 'problems' | 'onChange'>) {
  const [text, setText] = useState(JSON.stringify(values, null, 2));
  const wrong = [...problems].map(([name, problem]) => `${name}: ${problem}`).join(' ');
  const problem =
    parseObject(text) === undefined ? 'This is not a JSON object yet.' : wrong === '' ? undefined : wrong;
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

type Problems = ReadonlyMap<string, string>;

export interface ParameterProblems {
  /** Problems on display by field; undefined before the first attempt to launch. */
  readonly shown: Problems | undefined;
  /** Starts showing problems. Returns whether the parameters can be sent. */
  readonly check: () => boolean;
  /** Discards the problems reported by the service, because the values have changed. */
  readonly forget: () => void;
}

const none: Problems = new Map();

/** Problems with the parameters of a launch, found by the form or reported by the service. */
export function useParameterProblems(
  schema: string | null | undefined,
  values: Record<string, unknown> | undefined,
  launch: Pick<Launch, 'error' | 'reset'>,
): ParameterProblems {
  const [hasTried, setTried] = useState(false);
  const fields = useMemo(() => fieldsOf(schema ?? '') ?? [], [schema]);
  const problems = useMemo(() => problemsOf(fields, values ?? {}), [fields, values]);
  const refused = useMemo(
    () =>
      launch.error instanceof ServiceError && launch.error.code === 'invalid_parameters'
        ? refusalsOf(fields, launch.error.message)
        : none,
    [fields, launch.error],
  );
  const shown = problems.size > 0 ? problems : refused;
  return {
    shown: hasTried ? shown : undefined,
    check: () => {
      setTried(true);
      return problems.size === 0;
    },
    forget: () => {
      if (refused.size > 0) launch.reset();
    },
  };
}

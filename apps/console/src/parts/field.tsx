import { useId, type ComponentProps, type ReactNode, useEffect, useState } from 'react';

import { classNames } from './class-names.ts';
import styles from './field.module.css';
import { Icon } from './icon.tsx';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  children: (attributes: { id: string; 'aria-describedby': string; 'aria-invalid': boolean }) => ReactNode;
}

/** Labeled control with its hint, or its problem instead. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const below = `${id}-below`;
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': below, 'aria-invalid': problem !== undefined })}
      <span
        id={below}
        className={problem === undefined ? styles['hint'] : styles['problem']}
        role={problem === undefined ? undefined : 'alert'}
      >
        {problem ?? hint}
      </span>
    </div>
  );
}

export const selectClass = classNames(styles['input'], styles['select']);
export const monoInputClass = classNames(styles['input'], styles['mono']);

export const Input = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input {...rest} className={classNames(styles['input'], className)} />
);

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  value: string;
  onChange: (text: string) => void;
  /** Suggestions shown while the user types. */
  suggestions?: readonly string[] | undefined;
}

/** Labeled text field. */
export function TextField({ value, onChange, suggestions, ...rest }: TextFieldProps) {
  const list = useId();
  return (
    <Field {...rest}>
      {(attributes) => (
        <>
          <Input
            {...attributes}
            {...(suggestions !== undefined && { list })}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          {suggestions !== undefined && (
            <datalist id={list}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

/**
 * Multi-line text field. Enter inserts a line break. Ctrl+Enter (⌘+Enter) clicks the form's button, which checks the
 * input.
 */
export const TextArea = ({ className, ...rest }: ComponentProps<'textarea'>) => (
  <textarea
    {...rest}
    className={classNames(monoInputClass, className)}
    onKeyDown={(event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.currentTarget.form?.querySelector<HTMLButtonElement>('[type=submit]')?.click();
    }}
  />
);

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** Native select, which works on every phone and with every screen reader. */
export function Select<Value extends string>({ label, value, options, onChange }: SelectProps<Value>) {
  return (
    <select
      aria-label={label}
      title={label}
      className={classNames(selectClass, styles['filter'])}
      value={value}
      onChange={(event) => {
        const chosen = options.find((option) => option.value === event.target.value);
        if (chosen !== undefined) onChange(chosen.value);
      }}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

interface SearchInputProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string;
  onChange: (text: string) => void;
}

export const SearchInput = ({ label, onChange, ...rest }: SearchInputProps) => (
  <div className={styles['search']}>
    <Icon name="search" size={14} />
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      data-filter=""
      {...rest}
      className={styles['input']}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  </div>
);

interface FilterSelectProps {
  label: string;
  value: string | undefined;
  options: readonly { value: string; label: string }[];
  /** Called with an empty string for any value. */
  onChange: (value: string) => void;
}

/** Filter by one of several values. An unknown value from the address becomes an option too. */
export function FilterSelect({ label, value = '', options, onChange }: FilterSelectProps) {
  const isKnown = value === '' || options.some((option) => option.value === value);
  return (
    <Select
      label={label}
      value={value}
      options={[
        { value: '', label: `Any ${label.toLowerCase()}` },
        ...(isKnown ? [] : [{ value, label: `${label} ${value.slice(0, 8)}` }]),
        ...options,
      ]}
      onChange={onChange}
    />
  );
}

/** Pause in typing after which a search starts, in ms. */
const typedMs = 250;

/** Returns the typed text after a pause in typing (debounce). */
export function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(typed), typedMs);
    return () => window.clearTimeout(timer);
  }, [typed]);
  return settled;
}

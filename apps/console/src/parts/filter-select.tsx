import { Select } from './field.tsx';

interface FilterSelectProps {
  label: string;
  value: string | undefined;
  options: readonly { value: string; label: string }[];
  /** An empty text: any. */
  onChange: (value: string) => void;
}

/** A filter by one of several things. What an address asks for is an option too when it is none of them. */
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

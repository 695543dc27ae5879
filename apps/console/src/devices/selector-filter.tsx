import { useQuery } from '@tanstack/react-query';

import { SearchInput, Select } from '../parts/field.tsx';
import styles from './fleet.module.css';
import { poolsQuery } from './use-selector.ts';

interface SelectorFilterProps {
  value: string;
  /** Why it can't be read. */
  problem: string | undefined;
  onChange: (selector: string) => void;
}

/** Phones by their labels and properties, and by saved selectors where there are some. */
export function SelectorFilter({ value, problem, onChange }: SelectorFilterProps) {
  const { data: pools = [] } = useQuery(poolsQuery);
  const ofPools = pools.map(({ name }) => ({ value: `pool=${name}`, label: name }));
  const isPool = ofPools.some((option) => option.value === value);
  return (
    <>
      <SearchInput
        label="Selector, such as country=de"
        value={value}
        aria-invalid={problem !== undefined}
        onChange={onChange}
      />
      {problem !== undefined && (
        <span role="status" className={styles['problem']}>
          {problem}
        </span>
      )}
      {ofPools.length > 0 && (
        <Select
          label="Pool"
          value={isPool ? value : ''}
          options={[{ value: '', label: 'All pools' }, ...ofPools]}
          onChange={onChange}
        />
      )}
    </>
  );
}

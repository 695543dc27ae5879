import { useQuery } from '@tanstack/react-query';

import { Select } from '../parts/field.tsx';
import { projectsQuery } from './queries.ts';

interface ProjectSelectProps {
  value: string | undefined;
  /** An empty text: any automation. */
  onChange: (projectId: string) => void;
}

/** A filter. Direct code has no project; its launch may still be what an address asks for. */
export function ProjectSelect({ value = '', onChange }: ProjectSelectProps) {
  const { data: projects = [] } = useQuery(projectsQuery);
  const isKnown = value === '' || projects.some(({ id }) => id === value);
  return (
    <Select
      label="Automation"
      value={value}
      options={[
        { value: '', label: 'Any automation' },
        ...(isKnown ? [] : [{ value, label: `Automation ${value.slice(0, 8)}` }]),
        ...projects.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={onChange}
    />
  );
}

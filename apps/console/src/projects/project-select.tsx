import { useQuery } from '@tanstack/react-query';

import { FilterSelect } from '../parts/field.tsx';
import { projectsQuery } from './queries.ts';

interface ProjectSelectProps {
  value: string | undefined;
  /** An empty text: any automation. */
  onChange: (projectId: string) => void;
}

/** Direct code has no project; its launch may still be what an address asks for. */
export function ProjectSelect({ value, onChange }: ProjectSelectProps) {
  const { data: projects = [] } = useQuery(projectsQuery);
  const options = projects.map(({ id, name }) => ({ value: id, label: name }));
  return <FilterSelect label="Automation" value={value} options={options} onChange={onChange} />;
}

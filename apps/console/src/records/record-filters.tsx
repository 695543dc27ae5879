import { useQuery } from '@tanstack/react-query';

import { DeviceSelect } from '../devices/device-select.tsx';
import { Button } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { SinceSelect } from '../parts/since.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import { tagsQuery } from './queries.ts';
import { typeWords } from './record-marks.tsx';
import { recordStatuses, recordTypes, type RecordsSearch } from './records-search.ts';

interface FiltersProps {
  search: RecordsSearch;
  onChange: (changes: Record<string, string>) => void;
}

/** What the desk is narrowed to; an empty value takes a filter away. */
export function RecordFilters({ search, onChange }: FiltersProps) {
  const { data: tags = [] } = useQuery(tagsQuery(search.automation));
  return (
    <>
      <Select
        label="State"
        value={search.status ?? 'pending'}
        options={[
          ...recordStatuses.map((status) => ({ value: status as string, label: status as string })),
          { value: 'any', label: 'Any state' },
        ]}
        onChange={(status) => onChange({ status: status === 'pending' ? '' : status })}
      />
      <ProjectSelect value={search.automation} onChange={(automation) => onChange({ automation, tag: '' })} />
      <Select
        label="Type"
        value={search.type ?? ''}
        options={[
          { value: '', label: 'Any type' },
          ...recordTypes.map((type) => ({ value: type as string, label: typeWords[type] })),
        ]}
        onChange={(type) => onChange({ type })}
      />
      {tags.length > 0 && (
        <Select
          label="Tag"
          value={search.tag ?? ''}
          options={[{ value: '', label: 'Any tag' }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
          onChange={(tag) => onChange({ tag })}
        />
      )}
      <Select
        label="Completeness"
        value={search.partial ?? ''}
        options={[
          { value: '', label: 'Complete or not' },
          { value: 'false', label: 'Complete' },
          { value: 'true', label: 'Partial' },
        ]}
        onChange={(partial) => onChange({ partial })}
      />
      <DeviceSelect value={search.device} onChange={(device) => onChange({ device })} />
      <SinceSelect value={search.since} onChange={(since) => onChange({ since })} />
      {search.run !== undefined && (
        <Button look="quiet" onClick={() => onChange({ run: '' })}>
          Run {search.run.slice(0, 8)} <Icon name="close" size={12} />
          <span className="visually-hidden">Records of all runs</span>
        </Button>
      )}
    </>
  );
}

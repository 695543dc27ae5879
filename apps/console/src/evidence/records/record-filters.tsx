import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';

import { DeviceSelect } from '../../fleet/devices/device.tsx';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { SinceSelect } from '../../parts/time.tsx';
import { ProjectSelect } from '../../code/projects/project.tsx';
import { tagsQuery, typeWords } from './record.tsx';
import { recordStatuses, recordTypes, type RecordFiltersSearch } from './records-search.ts';

interface FiltersProps {
  filters: RecordFiltersSearch;
  onChange: (changes: Record<string, string>) => void;
}

/**
 * Filters of the review desk; an empty value removes a filter. Memoized, because its list of up to a thousand phones
 * would be rendered again with each record.
 */
export const RecordFilters = memo(function RecordFilters({ filters, onChange }: FiltersProps) {
  const { data: tags = [] } = useQuery(tagsQuery(filters.automation));
  return (
    <>
      <Select
        label="State"
        value={filters.status ?? 'pending'}
        options={[
          ...recordStatuses.map((status) => ({ value: status as string, label: `State: ${status}` })),
          { value: 'any', label: 'Any state' },
        ]}
        onChange={(status) => onChange({ status: status === 'pending' ? '' : status })}
      />
      <ProjectSelect
        value={filters.automation}
        onChange={(automation) => onChange({ automation, tag: '' })}
      />
      <Select
        label="Type"
        value={filters.type ?? ''}
        options={[
          { value: '', label: 'Any type' },
          ...recordTypes.map((type) => ({ value: type as string, label: typeWords[type] })),
        ]}
        onChange={(type) => onChange({ type })}
      />
      {tags.length > 0 && (
        <Select
          label="Tag"
          value={filters.tag ?? ''}
          options={[{ value: '', label: 'Any tag' }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
          onChange={(tag) => onChange({ tag })}
        />
      )}
      <Select
        label="Completeness"
        value={filters.partial ?? ''}
        options={[
          { value: '', label: 'Complete or not' },
          { value: 'false', label: 'Complete' },
          { value: 'true', label: 'Partial' },
        ]}
        onChange={(partial) => onChange({ partial })}
      />
      <DeviceSelect value={filters.device} onChange={(device) => onChange({ device })} />
      <SinceSelect value={filters.since} onChange={(since) => onChange({ since })} />
      {filters.run !== undefined && (
        <Button look="quiet" onClick={() => onChange({ run: '' })}>
          Run {filters.run.slice(0, 8)} <Icon name="close" size={12} />
          <span className="visually-hidden">Records of all runs</span>
        </Button>
      )}
    </>
  );
});

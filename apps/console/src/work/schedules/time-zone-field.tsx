import { useMemo } from 'react';

import { Field, selectClass } from '../../parts/field.tsx';

interface TimeZoneFieldProps {
  value: string;
  onChange: (zone: string) => void;
}

/** Select of the time zones that this browser knows, by region. Always includes the schedule's current zone. */
export function TimeZoneField({ value, onChange }: TimeZoneFieldProps) {
  const regions = useMemo(() => {
    const known = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), value]);
    return [...Map.groupBy([...known].toSorted(), regionOf)];
  }, [value]);
  return (
    <Field label="Time zone" hint="Type to find one, such as Europe/Berlin">
      {(attributes) => (
        <select
          {...attributes}
          className={selectClass}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          {regions.map(([region, zones]) => (
            <optgroup key={region} label={region}>
              {zones.map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}

const regionOf = (zone: string): string => (zone.includes('/') ? zone.slice(0, zone.indexOf('/')) : 'Other');

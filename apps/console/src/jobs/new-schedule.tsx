import type { Schedule } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Field, selectClass, TextField } from '../parts/field.tsx';
import { InlineFailure } from '../parts/states.tsx';
import { noWork, WorkFields, workBody, workProblem } from './work-fields.tsx';

const overlaps: Record<Schedule['overlap'], string> = {
  skip: 'skip the turn',
  queue: 'wait for its end',
  allow: 'begin beside it',
};
const isOverlap = (value: string): value is Schedule['overlap'] => value in overlaps;

export function NewSchedule({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [work, setWork] = useState(noWork);
  const [cron, setCron] = useState('0 2 * * *');
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [overlap, setOverlap] = useState<Schedule['overlap']>('skip');
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const body = { ...workBody(work), cron, time_zone: zone, overlap };
      await call('POST /api/v2/schedules', { body });
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title="New schedule"
      action="Create"
      reason={workProblem(work)}
      onAct={create}
      onClose={onClose}
    >
      <WorkFields value={work} countHint="So many runs, each on another phone" onChange={setWork} />
      <TextField
        label="Times"
        hint="Cron: minute, hour, day of month, month, day of week"
        value={cron}
        onChange={setCron}
      />
      <TextField label="Time zone" hint="Such as Europe/Berlin" value={zone} onChange={setZone} />
      <Field label="When the job before still runs">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            value={overlap}
            onChange={({ target }) => isOverlap(target.value) && setOverlap(target.value)}
          >
            {Object.entries(overlaps).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

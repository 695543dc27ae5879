import type { Schedule } from '@phalanx/protocol';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMe } from '../../api/me.ts';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field, Input, selectClass, TextField, useSettled } from '../../parts/field.tsx';
import { InlineFailure, messageOf } from '../../parts/states.tsx';
import { cronWords } from './cron-words.ts';
import { cronTimesQuery, NextTimes } from './schedule.tsx';
import styles from './schedule-dialog.module.css';
import { TimeZoneField } from './time-zone-field.tsx';
import { noWork, useWork, WorkFields, workOf } from '../jobs/work-fields.tsx';

const overlaps: Record<Schedule['overlap'], string> = {
  skip: 'Skip this time',
  queue: 'Wait for it to end',
  allow: 'Run in parallel',
};
const isOverlap = (value: string): value is Schedule['overlap'] => value in overlaps;

interface ScheduleDialogProps {
  /** Schedule to edit; absent for a new one. */
  schedule?: Schedule;
  onClose: () => void;
}

export function ScheduleDialog({ schedule, onClose }: ScheduleDialogProps) {
  const queries = useQueryClient();
  const me = useMe();
  const [error, setError] = useState<unknown>(null);
  const work = useWork(schedule === undefined ? noWork : workOf(schedule), error, () => setError(null));
  const [name, setName] = useState(schedule?.name ?? '');
  const [cron, setCron] = useState(schedule?.cron ?? '0 2 * * *');
  const [zone, setZone] = useState(
    () => schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [overlap, setOverlap] = useState<Schedule['overlap']>(schedule?.overlap ?? 'skip');
  const save = async (): Promise<void> => {
    if (!work.check()) return;
    setError(null);
    try {
      const body = { ...work.body(), name: name.trim(), cron: cron.trim(), time_zone: zone, overlap };
      if (schedule === undefined) await call('POST /api/v2/schedules', { body });
      else await change(schedule, body, work.text.selector);
      await queries.invalidateQueries({ queryKey: ['schedules'] });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const named = schedule?.work.device_ids?.length;
  const isOfOther = schedule !== undefined && me !== undefined && schedule.user.id !== me.user.id;
  return (
    <ActionDialog
      title={schedule === undefined ? 'New schedule' : 'Edit schedule'}
      action={schedule === undefined ? 'Create' : 'Save'}
      reason={work.problem ?? (cron.trim() === '' ? 'Enter the times.' : undefined)}
      onAct={save}
      onClose={onClose}
    >
      {isOfOther && (
        <p>
          It runs as {schedule.user.name}. When you change more than its name, it runs as you from then on,
          with your phones and rights.
        </p>
      )}
      <WorkFields
        work={work}
        isProjectFixed={schedule !== undefined}
        countLabel="Number of phones to run on"
        countHint={named === undefined ? 'Empty: one phone' : 'Empty: all named phones'}
        phonesHint={
          named === undefined
            ? 'Empty: any phone. Or a selector, such as country=de,model~Pixel or pool=NAME'
            : `Empty: the ${named} named phones. Or a selector in their place`
        }
      />
      <TextField label="Name" hint="Empty: named after its times" value={name} onChange={setName} />
      <CronField cron={cron} zone={zone} onChange={setCron} />
      <TimeZoneField value={zone} onChange={setZone} />
      <Field label="If the previous job is still running">
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

interface CronFieldProps {
  cron: string;
  zone: string;
  onChange: (cron: string) => void;
}

/** Cron field. While the user types, it shows the schedule in words and the next times computed by the service. */
function CronField({ cron, zone, onChange }: CronFieldProps) {
  const settled = useSettled(cron.trim());
  const { data: times, error } = useQuery({
    ...cronTimesQuery(settled, zone),
    placeholderData: keepPreviousData,
  });
  const words = cronWords(settled);
  return (
    <div className={styles['times']}>
      <Field
        label="Times"
        hint="Cron: minute, hour, day of month, month, day of week"
        problem={error === null ? undefined : messageOf(error)}
      >
        {(attributes) => (
          <Input {...attributes} value={cron} onChange={({ target }) => onChange(target.value)} />
        )}
      </Field>
      <div className={styles['next']} role="status" aria-label="Next times">
        {error === null && times !== undefined && (
          <>
            <p>{words === undefined ? 'Next:' : `Runs ${words}. Next:`}</p>
            <NextTimes times={times} zone={zone} />
          </>
        )}
      </div>
    </div>
  );
}

type Body = ReturnType<ReturnType<typeof useWork>['body']> &
  Pick<Schedule, 'name' | 'cron' | 'time_zone' | 'overlap'>;

/** Sends only the changed fields, because a change of more than the name makes the caller the schedule's owner. */
async function change(schedule: Schedule, body: Body, selector: string): Promise<void> {
  const { automation_id: _project, ...wanted } = { ...body, ...cleared(schedule, body) };
  const before: Record<string, unknown> = { ...schedule, ...schedule.work };
  const keepsPhones = schedule.work.device_ids !== undefined && selector.trim() === '';
  const entries = Object.entries(wanted).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(before[name]) && !(name === 'selector' && keepsPhones),
  );
  if (entries.length === 0) return;
  await call('PATCH /api/v2/schedules/:id', {
    params: { id: schedule.id },
    body: Object.fromEntries(entries),
  });
}

/** Adds defaults for removed settings, because a change keeps the settings that it does not name. */
const cleared = ({ work }: Schedule, body: Body) => ({
  parameters:
    work.parameters === undefined && Object.keys(body.parameters).length === 0 ? undefined : body.parameters,
  ...(work.count !== undefined && body.count === undefined && { count: work.device_ids?.length ?? 1 }),
  ...(work.film === true && body.film === undefined && { film: false }),
  ...(work.phone_settings !== undefined && body.phone_settings === undefined && { phone_settings: {} }),
});

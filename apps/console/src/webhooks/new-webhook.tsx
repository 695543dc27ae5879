import type { ChosenEvent, RunOutcome, Webhook } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import styles from '../access/settings.module.css';
import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Field, selectClass, TextField } from '../parts/field.tsx';
import { InlineFailure } from '../parts/states.tsx';

/** What receivers check with. */
export interface NewKey {
  readonly webhook: Webhook;
  readonly secret: string | null;
}

const eventTexts: Record<ChosenEvent, string> = {
  'run.ended': 'A run has ended',
  'device.not_ready': 'A phone is not ready for long',
  'device.back': 'Such a phone is ready again',
  'record.new': 'There is a new record',
  'group.opened': 'There is a new group of records',
  'group.reopened': 'A solved group is open again',
  'schedule.skipped': 'A schedule was skipped',
  'host.gone': 'A host is away',
  'host.back': 'A host is back',
  'runs.failing': 'Half of the runs of a day failed',
  'runs.none': 'Nothing ran for a day',
};
const failures: RunOutcome[] = ['out_of_steps', 'failed', 'timed_out', 'lost'];
const defaultMinutes = '10';

interface ChoicesProps<Value extends string> {
  legend: string;
  texts: Readonly<Record<Value, string>>;
  chosen: readonly Value[];
  onChange: (chosen: readonly Value[]) => void;
}

export function NewWebhook({ onMade, onClose }: { onMade: (made: NewKey) => void; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly ChosenEvent[]>(['run.ended']);
  const [isFailures, setFailures] = useState(true);
  const [minutes, setMinutes] = useState(defaultMinutes);
  const [isPair, setPair] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const body = {
        ...{
          name,
          url: url.trim(),
          events: [...events],
          signature: isPair ? ('v1a' as const) : ('v1' as const),
        },
        ...{ outcomes: isFailures ? failures : [], not_ready_minutes: Number(minutes) },
      };
      onMade(await call('POST /api/v2/webhooks', { body }));
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title="New webhook"
      action="Create"
      reason={problemOf(url, events, minutes)}
      onAct={create}
      onClose={onClose}
    >
      <TextField label="Name" hint="Such as “Failed nightly runs”" value={name} onChange={setName} />
      <TextField label="Address" hint="https://… of the receiver" value={url} onChange={setUrl} />
      <Choices legend="It tells when" texts={eventTexts} chosen={events} onChange={setEvents} />
      {events.includes('run.ended') && (
        <label>
          <input
            type="checkbox"
            checked={isFailures}
            onChange={({ target }) => setFailures(target.checked)}
          />{' '}
          Only of runs that did not succeed
        </label>
      )}
      {(events.includes('device.not_ready') || events.includes('device.back')) && (
        <TextField label="Not ready for" hint="Minutes" value={minutes} onChange={setMinutes} />
      )}
      <Field label="Signature" hint="Standard Webhooks">
        {(attributes) => (
          <select
            {...attributes}
            className={selectClass}
            value={isPair ? 'v1a' : 'v1'}
            onChange={({ target }) => setPair(target.value === 'v1a')}
          >
            <option value="v1">Shared secret (v1)</option>
            <option value="v1a">Key pair (v1a)</option>
          </select>
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

const isOf = <Value extends string>(texts: Readonly<Record<Value, string>>, text: string): text is Value =>
  text in texts;

function Choices<Value extends string>({ legend, texts, chosen, onChange }: ChoicesProps<Value>) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div className={styles['choices']}>
        {Object.keys(texts)
          .filter((one) => isOf(texts, one))
          .map((value) => (
            <label key={value}>
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
                }
              />
              {texts[value]}
            </label>
          ))}
      </div>
    </fieldset>
  );
}

/** Why it can't be made yet. */
function problemOf(url: string, events: readonly ChosenEvent[], minutes: string): string | undefined {
  if (!/^https?:\/\/./.test(url.trim())) return 'The address begins with https:// or http://.';
  if (events.length === 0) return 'Choose what it tells of.';
  return /^[1-9]\d{0,4}$/.test(minutes) ? undefined : 'The minutes are a whole number from 1 on.';
}

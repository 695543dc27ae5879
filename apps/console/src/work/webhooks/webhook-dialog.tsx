import {
  chatNames,
  type ChosenEvent,
  type RunOutcome,
  type Webhook,
  WebhookFormat,
  webhookFormatFor,
} from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import styles from '../../http/access/settings.module.css';
import { call } from '../../api/call.ts';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field, selectClass, TextField } from '../../parts/field.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { addressText, isMail, isSigned, urlOf } from './webhook.tsx';

/** Key that verifies the signatures of a webhook. */
export interface NewKey {
  readonly webhook: Webhook;
  readonly secret: string | null;
}

const eventTexts: Record<ChosenEvent, string> = {
  'run.ended': 'A run has ended',
  'device.not_ready': 'A phone has not been ready for a while',
  'device.back': 'That phone is ready again',
  'record.new': 'A record was created',
  'group.opened': 'A group of records was created',
  'group.reopened': 'A solved group was reopened',
  'drift.found': 'A new app version breaks more runs',
  'replay.finished': 'The replay of a commit has ended',
  'schedule.skipped': 'A schedule was skipped',
  'host.gone': 'A host is offline',
  'host.back': 'A host is back online',
  'runs.failing': 'Too many runs are failing',
  'runs.none': 'Nothing has run for a while',
};
const formatTexts: Record<WebhookFormat, string> = { phalanx: 'JSON, for programs', ...chatNames };
const formatOf = ({ url, format }: Draft): WebhookFormat => format ?? webhookFormatFor(urlOf(url));

const failures: RunOutcome[] = ['out_of_steps', 'failed', 'timed_out', 'lost'];
type Outcomes = 'all' | 'failures' | 'as before';

/** Webhook as entered. */
interface Draft {
  name: string;
  url: string;
  /** Chosen format; undefined means that the URL determines it. */
  format: WebhookFormat | undefined;
  events: readonly ChosenEvent[];
  outcomes: Outcomes;
  signature: Webhook['signature'];
  /** Thresholds by API name. */
  numbers: Record<ThresholdName, string>;
}

type ThresholdName = 'not_ready_minutes' | 'failing_percent' | 'failing_hours' | 'silent_hours';

interface Threshold {
  readonly name: ThresholdName;
  readonly label: string;
  readonly hint: string;
  readonly max: number;
  /** Events that the threshold applies to. */
  readonly events: readonly ChosenEvent[];
}

const thresholds: readonly Threshold[] = [
  {
    name: 'not_ready_minutes',
    label: 'Not ready for',
    hint: 'Minutes',
    max: 10_080,
    events: ['device.not_ready', 'device.back'],
  },
  {
    name: 'failing_percent',
    label: 'Runs without success',
    hint: 'Minimum percentage',
    max: 100,
    events: ['runs.failing'],
  },
  {
    name: 'failing_hours',
    label: 'Of the runs of the last',
    hint: 'Hours',
    max: 168,
    events: ['runs.failing'],
  },
  {
    name: 'silent_hours',
    label: 'Nothing ran for',
    hint: 'Hours',
    max: 720,
    events: ['runs.none'],
  },
];

const newDraft: Draft = {
  name: '',
  url: '',
  format: undefined,
  events: ['run.ended'],
  outcomes: 'failures',
  signature: 'v1',
  numbers: { not_ready_minutes: '10', failing_percent: '50', failing_hours: '24', silent_hours: '24' },
};

function draftOf(webhook: Webhook): Draft {
  const { name, url, format, events, outcomes, signature } = webhook;
  const isFailures = outcomes.length === failures.length && failures.every((one) => outcomes.includes(one));
  const numbers = { ...newDraft.numbers };
  for (const { name: threshold } of thresholds) numbers[threshold] = String(webhook[threshold]);
  const given = isFailures ? 'failures' : 'as before';
  return {
    name,
    url: addressText(url),
    format,
    events,
    signature,
    numbers,
    outcomes: outcomes.length === 0 ? 'all' : given,
  };
}

interface ChoicesProps<Value extends string> {
  legend: string;
  texts: Readonly<Record<Value, string>>;
  chosen: readonly Value[];
  onChange: (chosen: readonly Value[]) => void;
}

interface WebhookDialogProps {
  /** Webhook to edit; undefined for a new one. */
  webhook?: Webhook;
  onMade: (made: NewKey) => void;
  onClose: () => void;
}

/** Dialog that creates or edits a webhook. */
export function WebhookDialog({ webhook, onMade, onClose }: WebhookDialogProps) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => (webhook === undefined ? newDraft : draftOf(webhook)));
  const [error, setError] = useState<unknown>(null);
  const change = (changes: Partial<Draft>): void => setDraft((known) => ({ ...known, ...changes }));
  const { name, url, events, outcomes, signature, numbers } = draft;
  const format = formatOf(draft);
  const save = async (): Promise<void> => {
    const body = bodyOf(draft);
    try {
      if (webhook === undefined) {
        onMade(await call('POST /api/v2/webhooks', { body: { ...body, signature } }));
      } else {
        await call('PATCH /api/v2/webhooks/:id', { params: { id: webhook.id }, body });
        onClose();
      }
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
    } catch (failure) {
      setError(failure);
    }
  };
  const shown = thresholdsOf(events);
  return (
    <ActionDialog
      title={webhook === undefined ? 'New webhook' : 'Edit webhook'}
      action={webhook === undefined ? 'Create' : 'Save'}
      reason={problemOf(draft)}
      onAct={save}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="For example, “Failed nightly runs”"
        value={name}
        onChange={(text) => change({ name: text })}
      />
      <TextField
        label="Address"
        hint="https://… of the receiver, or an e-mail address"
        value={url}
        onChange={(text) => change({ url: text })}
      />
      {!isMail(urlOf(url)) && (
        <Field label="Format" hint="Chat messages are sentences">
          {(attributes) => (
            <select
              {...attributes}
              className={selectClass}
              value={format}
              onChange={({ target }) =>
                change({ format: WebhookFormat.enum.find((one) => one === target.value) })
              }
            >
              {WebhookFormat.enum.map((one) => (
                <option key={one} value={one}>
                  {formatTexts[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Choices
        legend="Notify when"
        texts={eventTexts}
        chosen={events}
        onChange={(chosen) => change({ events: chosen })}
      />
      {events.includes('run.ended') && (
        <label>
          <input
            type="checkbox"
            checked={outcomes !== 'all'}
            onChange={({ target }) => change({ outcomes: target.checked ? 'failures' : 'all' })}
          />{' '}
          {outcomes === 'as before' && webhook !== undefined
            ? `Only for runs that ended as ${webhook.outcomes.join(', ')}`
            : 'Only for runs that did not succeed'}
        </label>
      )}
      {shown.map((one) => (
        <TextField
          key={one.name}
          label={one.label}
          hint={one.hint}
          value={numbers[one.name]}
          onChange={(text) => change({ numbers: { ...numbers, [one.name]: text } })}
        />
      ))}
      {webhook === undefined && isSigned({ url: urlOf(url), format }) && (
        <Field label="Signature" hint="Standard Webhooks">
          {(attributes) => (
            <select
              {...attributes}
              className={selectClass}
              value={signature}
              onChange={({ target }) => change({ signature: target.value === 'v1a' ? 'v1a' : 'v1' })}
            >
              <option value="v1">Shared secret (v1)</option>
              <option value="v1a">Key pair (v1a)</option>
            </select>
          )}
        </Field>
      )}
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

const thresholdsOf = (events: readonly ChosenEvent[]): Threshold[] =>
  thresholds.filter((threshold) => threshold.events.some((event) => events.includes(event)));

function numbersOf(
  events: readonly ChosenEvent[],
  numbers: Draft['numbers'],
): Partial<Record<ThresholdName, number>> {
  const given: Partial<Record<ThresholdName, number>> = {};
  for (const { name } of thresholdsOf(events)) given[name] = Number(numbers[name]);
  return given;
}

function bodyOf(draft: Draft) {
  const { name, events, outcomes, numbers } = draft;
  const url = urlOf(draft.url);
  const format: WebhookFormat = isMail(url) ? 'phalanx' : formatOf(draft);
  return {
    name,
    url,
    events: [...events],
    format,
    // Keeps outcomes that this dialog has no option for.
    ...(outcomes === 'as before' ? {} : { outcomes: outcomes === 'failures' ? failures : [] }),
    ...numbersOf(events, numbers),
  };
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

/** Returns why the webhook can't be saved yet. */
function problemOf({ url, events, numbers }: Draft): string | undefined {
  if (!/^(https?:\/\/|mailto:)./.test(urlOf(url)))
    return 'The address must begin with https:// or http://, or be an e-mail address.';
  if (events.length === 0) return 'Choose at least one event.';
  const wrong = thresholdsOf(events).find(
    ({ name, max }) => !/^[1-9]\d*$/.test(numbers[name]) || Number(numbers[name]) > max,
  );
  return wrong && `“${wrong.label}” must be a whole number from 1 to ${wrong.max}.`;
}

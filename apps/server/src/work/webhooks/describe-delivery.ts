import { webhookEvents, type WebhookEvent } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { StoredDelivery } from './delivery-store.ts';
import type { Names } from './names.ts';

/** Description of an event for people. */
export interface EventText {
  /** Sentence without a full stop. */
  readonly headline: string;
  readonly rows: readonly (readonly [label: string, value: string | null])[];
  /** Path in the console; empty for its start page. */
  readonly path: string;
}

const maxValueLength = 500;

const events = Compile(Type.Union(Object.values(webhookEvents)));

/**
 * Reduces text of a user or an automation to one line, so that it can neither pass for text of the service nor end a
 * header.
 */
export const line = (text: string, maxLength = maxValueLength): string => {
  const plain = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const cut = plain.length > maxLength ? `${plain.slice(0, maxLength)}…` : plain;
  return cut.toWellFormed();
};

export const quoted = (text: string): string => `“${line(text, 100)}”`;
const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Returns the rows that have a value, each as one line. */
export const linesOf = ({ rows }: EventText, maxLength?: number): string[] =>
  rows.flatMap(([label, value]) => (value ? `${label}: ${line(value, maxLength)}` : []));

/** Describes the event of a delivery, for e-mails and chats. */
export async function describeDelivery({ type, at, data }: StoredDelivery, names: Names): Promise<EventText> {
  const payload: unknown = JSON.parse(data);
  return describeEvent(events.Parse({ type, timestamp: new Date(at).toISOString(), data: payload }), names);
}

async function describeEvent(event: WebhookEvent, names: Names): Promise<EventText> {
  if (event.type === 'run.ended') return describeRun(event.data, names);
  if (event.type === 'record.new') return describeRecord(event.data, names);
  return describeOther(event);
}

const outcomes: Record<string, string> = {
  succeeded: 'was successful',
  out_of_steps: 'ended out of steps',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'exceeded its time limit',
  lost: 'is lost',
};

type DataOf<Type extends WebhookEvent['type']> = Extract<WebhookEvent, { type: Type }>['data'];

async function describeRun(data: DataOf<'run.ended'>, names: Names): Promise<EventText> {
  const { run_id: runId, name, device_id: deviceId, outcome, status, error, ended_at: endedAt } = data;
  const device = await names.device(deviceId);
  const what = name === null ? 'A run' : `A run of ${quoted(name)}`;
  return {
    headline: `${what} ${outcomes[outcome ?? ''] ?? `ended as ${status}`} on ${line(device, 100)}`,
    rows: [
      ['Reason', error && error.message],
      ['Phone', device],
      ['Ended', endedAt === null ? null : timeOf(endedAt)],
      ['Run', runId],
    ],
    path: `/runs/${runId}`,
  };
}

async function describeRecord(data: DataOf<'record.new'>, names: Names): Promise<EventText> {
  const device = await names.device(data.device_id);
  return {
    headline: `There is a new record of ${quoted(data.automation_name)}`,
    rows: [
      ['Kind', data.tag === '' ? data.type : `${data.type}, ${data.tag}`],
      ['Phone', device],
      ['Run', data.run_id],
    ],
    path: `/runs/${data.run_id}`,
  };
}

const phoneOf = ({ model, serial }: { model: string; serial: string }): string =>
  line(model === '' || model === serial ? serial : `${model} (${serial})`, 100);

type OtherEvent = Exclude<WebhookEvent, { type: 'run.ended' | 'record.new' }>;

function describeOther(event: OtherEvent): EventText {
  const { type, data } = event;
  if (type === 'device.not_ready')
    return {
      headline: `The phone ${phoneOf(data)} has not been ready since ${timeOf(data.since)}`,
      rows: [
        ['State', data.state],
        ['Reason', data.reason],
        ['Host', data.host_name],
      ],
      path: `/devices/${data.device_id}`,
    };
  if (type === 'device.back')
    return {
      headline: `The phone ${phoneOf(data)} is ready again`,
      rows: [
        ['Not ready since', timeOf(data.not_ready_since)],
        ['Host', data.host_name],
      ],
      path: `/devices/${data.device_id}`,
    };
  if (type === 'host.gone')
    return {
      headline: `The host ${quoted(data.host_name)} has been away since ${timeOf(data.since)}`,
      rows: [],
      path: '/devices',
    };
  if (type === 'host.back')
    return {
      headline: `The host ${quoted(data.host_name)} has connected again`,
      rows: [['Away since', timeOf(data.gone_since)]],
      path: '/devices',
    };
  if (type === 'group.opened' || type === 'group.reopened')
    return {
      headline: `A record of ${quoted(data.automation_name)} has ${type === 'group.opened' ? 'started a new group' : 'reopened a solved group'}`,
      rows: [
        ['Group', data.group_id],
        ['Record', data.record_id],
      ],
      path: '/groups',
    };
  if (type === 'drift.found')
    return {
      headline: `The code of ${quoted(data.automation_name)} handles ${line(data.package, 100)} ${line(data.version, 50)} worse than the previous version`,
      rows: [
        ['Runs without success', `${data.bad_runs} of ${data.runs}`],
        [
          'Before',
          data.version_before && `${data.bad_runs_before} of ${data.runs_before} with ${data.version_before}`,
        ],
        ['Reopened group', data.group_id],
      ],
      path: `/projects/${data.automation_id}/versions`,
    };
  if (type === 'replay.finished')
    return {
      headline: `${data.known} of ${data.screens} saved screens of ${quoted(data.automation_name)} are known${data.commit === null ? '' : ` in ${data.commit.slice(0, 8)}`}`,
      rows: [
        ['Newly known', `${data.recognised}`],
        ['No longer known', `${data.broken}`],
        ['Problem', data.problem],
      ],
      path: `/projects/${data.automation_id}`,
    };
  return describeTotals(event);
}

function describeTotals({
  type,
  data,
}: Extract<
  WebhookEvent,
  { type: 'schedule.skipped' | 'runs.failing' | 'runs.none' | 'webhook.test' }
>): EventText {
  if (type === 'schedule.skipped')
    return {
      headline: `The schedule ${quoted(data.schedule_name)} created no job`,
      rows: [
        ['Reason', data.reason],
        ['Planned', timeOf(data.planned_at)],
      ],
      path: '/jobs',
    };
  if (type === 'runs.failing')
    return {
      headline: `${data.failed} of your ${data.ended} runs of the last ${data.hours} hours did not succeed`,
      rows: [],
      path: '/runs',
    };
  if (type === 'runs.none')
    return {
      headline: `You have launched nothing for ${data.hours} hours`,
      rows: [['Last launch', data.last_at === null ? null : timeOf(data.last_at)]],
      path: '/runs',
    };
  return { headline: 'This is a test', rows: [], path: '/webhooks' };
}

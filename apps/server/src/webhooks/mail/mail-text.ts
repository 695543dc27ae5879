import { createHash } from 'node:crypto';
import { webhookEvents, type WebhookEvent } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { StoredDelivery } from '../delivery-store.ts';
import type { StoredWebhook } from '../store.ts';
import type { DeviceAccess } from '../../devices/device-access.ts';

/** What people call what a message has only the ID of. */
export interface Names {
  readonly device: (id: string) => Promise<string>;
  readonly user: (id: string) => string;
  /** Such as `https://phones.example.com`. */
  readonly consoleUrl: string;
}

export interface MailText {
  readonly subject: string;
  readonly text: string;
  /** The same for the same deliveries, so that an e-mail that is sent twice is shown once. */
  readonly id: string;
}

interface Told {
  /** A sentence without a full stop. */
  readonly headline: string;
  readonly rows: readonly (readonly [label: string, value: string | null])[];
  /** In the console; empty: its first page. */
  readonly path: string;
}

/** Deliveries that one e-mail describes; of the rest it gives the number. */
const described = 50;
const longestHeadline = 150;
const longestValue = 500;

const events = Compile(Type.Union(Object.values(webhookEvents)));

/** What a person or an automation has written stays on its line: it can't pass for text of ours, or end a header. */
const line = (text: string, longest = longestValue): string => {
  const plain = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return plain.length > longest ? `${plain.slice(0, longest).toWellFormed()}…` : plain;
};

const quoted = (text: string): string => `“${line(text, 100)}”`;
const timeOf = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Plain text about what has happened, for one webhook. */
export async function writeMail(
  webhook: StoredWebhook,
  deliveries: readonly StoredDelivery[],
  names: Names,
): Promise<MailText> {
  const shown = await Promise.all(deliveries.slice(0, described).map((one) => tell(one, names)));
  const rest = deliveries.length - shown.length;
  const parts = shown.map((told) => describe(told, names.consoleUrl));
  if (rest > 0) parts.push(`${rest.toLocaleString('en')} more messages are listed among the deliveries.`);
  const [first] = shown;
  const more = deliveries.length > 1 ? `, and ${(deliveries.length - 1).toLocaleString('en')} more` : '';
  return {
    subject: `[Phalanx] ${line(first?.headline ?? '', longestHeadline)}${more}`,
    text: `${parts.join('\n\n')}\n\n${footOf(webhook, names)}`,
    id: createHash('sha256')
      .update(deliveries.map(({ id, created_at: at }) => `${id} ${at}`).join())
      .digest('hex')
      .slice(0, 32),
  };
}

function describe({ headline, rows, path }: Told, consoleUrl: string): string {
  const given = rows.flatMap(([label, value]) => (value ? `${label}: ${line(value)}` : []));
  return [`${headline}.`, ...given, `${consoleUrl}${path}`].join('\n');
}

const footOf = ({ name, user_id: userId }: StoredWebhook, { user, consoleUrl }: Names): string =>
  [
    // What mail programs take for the beginning of a signature.
    '-- ',
    `${line(user(userId), 100)} asked for this e-mail${name === '' ? '' : `, under the name ${quoted(name)}`}.`,
    `It can be changed and paused under ${consoleUrl}/webhooks`,
    '',
  ].join('\n');

async function tell({ type, at, data }: StoredDelivery, names: Names): Promise<Told> {
  const told: unknown = JSON.parse(data);
  return tellEvent(events.Parse({ type, timestamp: new Date(at).toISOString(), data: told }), names);
}

async function tellEvent(event: WebhookEvent, names: Names): Promise<Told> {
  if (event.type === 'run.ended') return tellRun(event.data, names);
  if (event.type === 'record.new') return tellRecord(event.data, names);
  return tellOther(event);
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

async function tellRun(data: DataOf<'run.ended'>, names: Names): Promise<Told> {
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

async function tellRecord(data: DataOf<'record.new'>, names: Names): Promise<Told> {
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

function tellOther(event: OtherEvent): Told {
  const { type, data } = event;
  if (type === 'device.not_ready')
    return {
      headline: `The phone ${phoneOf(data)} is not ready since ${timeOf(data.since)}`,
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
      headline: `The host ${quoted(data.host_name)} is away since ${timeOf(data.since)}`,
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
      headline: `A record of ${quoted(data.automation_name)} has ${type === 'group.opened' ? 'begun a new group' : 'opened a solved group again'}`,
      rows: [
        ['Group', data.group_id],
        ['Record', data.record_id],
      ],
      path: '/groups',
    };
  if (type === 'drift.found')
    return {
      headline: `The code of ${quoted(data.automation_name)} knows ${line(data.package, 100)} ${line(data.version, 50)} worse than the version before`,
      rows: [
        ['Runs without success', `${data.bad_runs} of ${data.runs}`],
        [
          'Before',
          data.version_before && `${data.bad_runs_before} of ${data.runs_before} with ${data.version_before}`,
        ],
        ['Group that is open again', data.group_id],
      ],
      path: `/projects/${data.automation_id}/versions`,
    };
  if (type === 'replay.finished')
    return {
      headline: `${data.known} of ${data.screens} saved screens of ${quoted(data.automation_name)} are known${data.commit === null ? '' : ` in ${data.commit.slice(0, 8)}`}`,
      rows: [
        ['Newly known', `${data.recognised}`],
        ['Not known any more', `${data.broken}`],
        ['Problem', data.problem],
      ],
      path: `/projects/${data.automation_id}`,
    };
  return tellOfMany(event);
}

function tellOfMany({
  type,
  data,
}: Extract<
  WebhookEvent,
  { type: 'schedule.skipped' | 'runs.failing' | 'runs.none' | 'webhook.test' }
>): Told {
  if (type === 'schedule.skipped')
    return {
      headline: `The schedule ${quoted(data.schedule_name)} made no job`,
      rows: [
        ['Reason', data.reason],
        ['Planned', timeOf(data.planned_at)],
      ],
      path: '/jobs',
    };
  if (type === 'runs.failing')
    return {
      headline: `${data.failed} of your ${data.ended} runs of the last ${data.hours} hours had no success`,
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

/** What messages have the IDs of, as people call it. `consoleUrl` is asked when the server listens: only then it has a port. */
export const createNames = ({ fleet, labels, shares }: DeviceAccess, consoleUrl: () => string): Names => ({
  async device(id) {
    const device = await fleet.find(id);
    if (device === undefined) return id;
    const { brand, model } = device.stored;
    const name = labels.nameOf(device) || [brand, model].filter(Boolean).join(' ');
    return name === '' ? device.serial : `${name} (${device.serial})`;
  },
  user: (id) => shares.nameOf(id),
  get consoleUrl() {
    return consoleUrl();
  },
});

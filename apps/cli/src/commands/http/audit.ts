import { type Command, Option } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readPages } from '@phalanx/client/read-all';
import { AuditAction, auditRoutes, maxPageLimit, type AuditEntry } from '@phalanx/protocol';
import { type Command as PlainCommand, InvalidArgumentError } from 'commander';

import { type OptionsOf, serverCommand } from '../../connection/server-command.ts';
import { getUserId } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';
import { parseLimit } from '../../option-values.ts';

const unitsMs = { min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses an age such as `2h`, or a time that JavaScript can parse. */
function parsePast(text: string): string {
  const [, count, unit] = /^(\d{1,5})(min|h|d)$/.exec(text) ?? [];
  const size = unit === 'min' || unit === 'h' || unit === 'd' ? unitsMs[unit] : undefined;
  const time = size === undefined ? Date.parse(text) : Date.now() - Number(count) * size;
  if (!Number.isNaN(time) && time >= 0) return new Date(time).toISOString();
  throw new InvalidArgumentError('Expected an age such as 30min, 12h or 7d, or an ISO 8601 time.');
}

/** `phalanx audit`: lists the audit log, with users, their actions, tokens and addresses. */
export function addAuditCommand(program: PlainCommand): void {
  serverCommand(program, 'audit', {
    about: 'show the audit log, newest first: who did what, with which token, from which address',
    build: auditOptions,
    json: 'print the entries as one JSON object',
    help: `Administrators see all entries. Other users see their own actions, and actions on objects that they own.

Examples:
  phalanx audit --user ada --since 7d
  phalanx audit --refused
  phalanx audit --since 2030-01-01 --until 2030-02-01 --jsonl > january.jsonl`,
    async run({ api }, flags) {
      const entries = listEntries(
        api,
        await queryOf(api, flags),
        flags.limit ?? (flags.jsonl ? Infinity : 50),
      );
      if (flags.jsonl) {
        for await (const entry of entries) console.log(JSON.stringify(entry));
        return;
      }
      const all: AuditEntry[] = [];
      for await (const entry of entries) all.push(entry);
      if (flags.json) printJson({ success: true, entries: all });
      else printTable({ flexible: 'details', rows: all.map(row) }, 'No audit entries.');
    },
  });
}

const auditOptions = (command: Command) =>
  command
    .option('--user <user>', 'only actions of this user (ID; administrators can also use the name)')
    .addOption(new Option('--action <action>', 'only this action').choices(AuditAction.enum))
    .option('--subject <id>', 'only actions on the project, device, token or other object with this ID')
    .option('--refused', 'only refused actions')
    .option('--since <when>', 'start of the period: an age (30min, 12h, 7d) or an ISO 8601 time', parsePast)
    .option('--until <when>', 'end of the period, in the same form', parsePast)
    .option('--limit <count>', 'maximum number of entries; default: 50, with --jsonl all', parseLimit)
    .option('--jsonl', 'print each entry as a line of JSON');

async function queryOf(
  api: ApiClient,
  { user, action, subject, refused, since, until }: OptionsOf<typeof auditOptions>,
) {
  return {
    ...(user === undefined ? {} : { user_id: await getUserId(api, user) }),
    ...(action === undefined ? {} : { action }),
    ...(subject === undefined ? {} : { subject_id: subject }),
    ...(refused === undefined ? {} : { outcome: 'refused' as const }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

async function* listEntries(
  api: ApiClient,
  filter: Awaited<ReturnType<typeof queryOf>>,
  limit: number,
): AsyncGenerator<AuditEntry> {
  let left = limit;
  const found = readPages((start) =>
    api.call(auditRoutes.list, { query: { ...filter, ...start, limit: Math.min(left, maxPageLimit) } }),
  );
  for await (const { entries } of found) {
    yield* entries;
    left -= entries.length;
    if (left === 0) return;
  }
}

function row(entry: AuditEntry): Record<string, string> {
  const { user, token, address, action, outcome, code, subject, details, count } = entry;
  const times = count === 1 ? '' : ` (${count} times)`;
  return {
    time: new Date(entry.at).toISOString().slice(0, 19).replace('T', ' '),
    user: user?.name ?? '-',
    token: token?.name ?? '-',
    from: address ?? '-',
    action: `${action}${outcome === 'done' ? '' : ` ${outcome}: ${code ?? ''}`}${times}`,
    on: subject === null ? '' : `${subject.type} ${subject.name ?? subject.id}`,
    details: Object.entries(details)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' '),
  };
}

import { AuditAction, auditRoutes, maxPageLimit, type AuditEntry } from '@phalanx/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import type { ApiClient } from '../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { getUserId } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';
import { parseLimit } from '../../option-values.ts';

interface Flags extends ConnectionFlags {
  user?: string;
  action?: AuditEntry['action'];
  subject?: string;
  refused?: true;
  since?: string;
  until?: string;
  limit?: number;
  json?: true;
  jsonl?: true;
}

const unitsMs = { min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `2h` ago, or a time that JavaScript knows. */
function parsePast(text: string): string {
  const [, count, unit] = /^(\d{1,5})(min|h|d)$/.exec(text) ?? [];
  const size = unit === 'min' || unit === 'h' || unit === 'd' ? unitsMs[unit] : undefined;
  const time = size === undefined ? Date.parse(text) : Date.now() - Number(count) * size;
  if (!Number.isNaN(time) && time >= 0) return new Date(time).toISOString();
  throw new InvalidArgumentError('Give a time ago such as 30min, 12h or 7d, or an ISO 8601 time.');
}

/** `phalanx audit` lists the audit log: users, their actions, tokens and addresses. */
export function addAuditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('show who did what, with which token, from where; newest first')
    .option('--user <user>', 'only what this user did (ID, or for administrators a name)')
    .addOption(new Option('--action <action>', 'only this').choices(AuditAction.enum))
    .option('--subject <id>', 'only what was done to the project, device, token … of this ID')
    .option('--refused', 'only what was refused')
    .option('--since <when>', 'a time ago (12h, 7d) or an ISO 8601 time', parsePast)
    .option('--until <when>', 'the same', parsePast)
    .option('--limit <count>', 'at most so many; default 50, with --jsonl all', parseLimit)
    .option('--json', 'print them as one JSON object')
    .option('--jsonl', 'print each as a line of JSON')
    .addHelpText(
      'after',
      `
Administrators see everything, others what they did and what was done to what is theirs.

Examples:
  phalanx audit --user ada --since 7d
  phalanx audit --refused
  phalanx audit --since 2030-01-01 --until 2030-02-01 --jsonl > january.jsonl`,
    )
    .action(async (flags: Flags) => {
      const { api } = await connect(flags);
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
      else printTable({ flexible: 'details', rows: all.map(row) }, 'Nothing was noted.');
    });
  addConnectionOptions(command);
}

async function queryOf(api: ApiClient, { user, action, subject, refused, since, until }: Flags) {
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
  for (let cursor: string | null | undefined; cursor !== null && left > 0;) {
    const page = { limit: Math.min(left, maxPageLimit), ...(cursor === undefined ? {} : { cursor }) };
    const { entries, next_cursor: next } = await api.call(auditRoutes.list, {
      query: { ...filter, ...page },
    });
    yield* entries;
    left -= entries.length;
    cursor = next;
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

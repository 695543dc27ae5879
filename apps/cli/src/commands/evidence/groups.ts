import { type Command, Option } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import {
  accessRoutes,
  groupRoutes,
  groupStatuses,
  type GroupRecord,
  type JoinReason,
  type RecordGroup,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { usageError } from '../../exit-codes.ts';
import { getAutomationId, isUuid, getUserId } from '../../launch/find-by-name.ts';
import { formatAge } from '../../output/duration.ts';
import { printable, printableLine } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { parseLimit } from '../../option-values.ts';
import { addProposeCommand } from './records/propose.ts';
import { getRecordId } from './records/read-records.ts';

/** `phalanx groups`: groups of records that show the same screen, or crashed with the same error. */
export function addGroupCommands(program: PlainCommand): void {
  const groups = serverCommand(program, 'groups', {
    about: 'list groups of records that show the same screen, or crashed with the same error',
    build: listOptions,
    help: `Examples:
  phalanx groups --status open
  phalanx groups solve 01a1fc26 --commit 4f372a3
  phalanx groups propose 01a1fc26 --write shop
  phalanx groups merge 01a1fc26 01a1fd77 && phalanx groups undo 01a1fc26`,
    run: listGroups,
  });
  addShowCommand(groups);
  addMarkCommands(groups);
  addAssignCommand(groups);
  addMergeCommands(groups);
  addDeleteScreenCommand(groups);
  addProposeCommand(groups, getGroupId);
}

const listOptions = (command: Command) =>
  command
    .option('--automation <automation>', 'only groups of this project (ID or name) or launch ID')
    .addOption(new Option('--status <status>', 'only groups in this state').choices(groupStatuses))
    .option('--mine', 'only groups that are assigned to you')
    .addOption(new Option('--sort <by>', 'sort order; default: last_seen').choices(['last_seen', 'records']))
    .option('--limit <count>', 'maximum number of groups', parseLimit, 50);

const withGroup = (command: Command) =>
  command.argument('<group>', 'group ID, or its beginning or end (at least 4 characters)');

async function listGroups(
  { api }: Connection,
  { automation, status, mine, sort, limit, json }: OptionsOf<typeof listOptions> & ServerFlags,
): Promise<void> {
  const { next_cursor, groups } = await api.call(groupRoutes.list, {
    query: {
      limit: Math.min(limit, 1000),
      ...(automation === undefined ? {} : { automation_id: await getAutomationId(api, automation) }),
      ...(status === undefined ? {} : { status }),
      ...(mine === undefined ? {} : { assignee_id: (await api.call(accessRoutes.me)).user.id }),
      ...(sort === undefined ? {} : { sort }),
    },
  });
  if (json) return printJson({ success: true, groups, next_cursor });
  printTable(
    { flexible: 'screen or error', rows: groups.map(row) },
    'No groups. Records of unknown screens, crashes and timeouts are put into groups.',
  );
}

function addShowCommand(groups: PlainCommand): void {
  serverCommand(groups, 'show', {
    about: 'show a group, its newest records, and why each record belongs to it',
    json: 'print the group and its records as JSON',
    build: (command: Command) =>
      withGroup(command).option('--limit <count>', 'maximum number of records', parseLimit, 20),
    async run({ api }, { limit, json }, text) {
      const params = { id: await getGroupId(api, text) };
      const { group, kept_screens, last_change, app_versions, languages } = await api.call(groupRoutes.get, {
        params,
      });
      const facts = { kept_screens, app_versions, languages };
      const query = { limit: Math.min(limit, 1000) };
      const { records } = await api.call(groupRoutes.listRecords, { params, query });
      if (json) return printJson({ success: true, group, records, ...facts, last_change });
      printHead(group, facts);
      printTable({ flexible: 'reason', rows: records.map(recordRow) }, 'Its records have been deleted.');
    },
  });
}

const withGroups = (command: Command) =>
  command.argument('<groups...>', 'group IDs, or their beginnings or ends (at least 4 characters)');

function addMarkCommands(groups: PlainCommand): void {
  const json = "print the API's replies";
  serverCommand(groups, 'solve', {
    about: 'mark groups and their pending records as solved',
    json,
    build: (command: Command) =>
      withGroups(command)
        .option(
          '--commit <hash>',
          'commit that solves the groups; records of runs with older code do not reopen them',
        )
        .option('--keep-records', 'leave the records pending'),
    run: ({ api }, { commit, ...flags }, texts) =>
      markAll(api, texts, flags, {
        status: 'solved',
        ...(commit === undefined ? {} : { solved_in: commit }),
      }),
  });
  serverCommand(groups, 'ignore', {
    about: 'mark groups as ignored, and their pending records as skipped',
    json,
    build: (command: Command) => withGroups(command).option('--keep-records', 'leave the records pending'),
    run: ({ api }, flags, texts) => markAll(api, texts, flags, { status: 'ignored' }),
  });
  serverCommand(groups, 'reopen', {
    about: 'reopen groups; their records stay as they are',
    json,
    build: withGroups,
    run: ({ api }, flags, texts) => markAll(api, texts, flags, { status: 'open' }),
  });
}

async function markAll(
  api: ApiClient,
  texts: readonly string[],
  { keepRecords, json }: { keepRecords?: true; json?: true },
  body: { status: RecordGroup['status']; solved_in?: string },
): Promise<void> {
  for (const text of texts) {
    const { group } = await api.call(groupRoutes.change, {
      params: { id: await getGroupId(api, text) },
      body: { ...body, ...(keepRecords ? { mark_records: false } : {}) },
    });
    printGroup(group, json);
  }
}

function addAssignCommand(groups: PlainCommand): void {
  serverCommand(groups, 'assign', {
    about: 'assign a group to a user who can edit the project',
    build: (command: Command) =>
      withGroup(command)
        .argument('[user]', 'user ID or name; default: yourself')
        .option('--nobody', 'remove the assignment'),
    async run({ api }, { nobody, json }, text, user) {
      const id = await getGroupId(api, text);
      const assignee_id = nobody ? null : await assigneeOf(api, user);
      const { group } = await api.call(groupRoutes.change, { params: { id }, body: { assignee_id } });
      printGroup(group, json);
    },
  });
}

const assigneeOf = async (api: ApiClient, user: string | undefined): Promise<string> =>
  user === undefined ? (await api.call(accessRoutes.me)).user.id : getUserId(api, user);

function addMergeCommands(groups: PlainCommand): void {
  serverCommand(groups, 'merge', {
    about:
      'merge groups of one automation into the first one, which also gets later records of their screens',
    build: (command: Command) => withGroup(command).argument('<others...>', 'groups to merge into it'),
    async run({ api }, { json }, text, others) {
      const id = await getGroupId(api, text);
      const group_ids: string[] = [];
      for (const other of others) group_ids.push(await getGroupId(api, other));
      const { group } = await api.call(groupRoutes.merge, { params: { id }, body: { group_ids } });
      printGroup(group, json);
    },
  });
  serverCommand(groups, 'split', {
    about: 'move records of a group to a new group, which also gets later records of their screens',
    build: (command: Command) =>
      withGroup(command).argument('<records...>', 'record IDs, or their beginnings (at least 4 characters)'),
    async run({ api }, { json }, text, records) {
      const id = await getGroupId(api, text);
      const record_ids: string[] = [];
      for (const record of records) record_ids.push(await getRecordId(api, record));
      const { group } = await api.call(groupRoutes.split, { params: { id }, body: { record_ids } });
      printGroup(group, json);
    },
  });
  serverCommand(groups, 'undo', {
    about: 'undo the last mark, merge or split of a group',
    build: withGroup,
    async run({ api }, { json }, text) {
      const { group } = await api.call(groupRoutes.undo, { params: { id: await getGroupId(api, text) } });
      printGroup(group, json);
    },
  });
}

function addDeleteScreenCommand(groups: PlainCommand): void {
  serverCommand(groups, 'delete-screen', {
    about: 'permanently delete the copy of a screen that replays use',
    json: false,
    build: (command: Command) =>
      withGroup(command).argument('<screen>', 'name of the screen, from the verdicts of a replay'),
    async run({ api }, _, text, name) {
      const id = await getGroupId(api, text);
      await api.call(groupRoutes.deleteScreen, { params: { id, name } });
      console.log(printable(`Screen ${name} was deleted.`));
    },
  });
}

/** Finds a group by the beginning or end of its ID. IDs that are created at the same time share their beginning. */
async function getGroupId(api: ApiClient, text: string): Promise<string> {
  const part = text.toLowerCase();
  if (isUuid(part)) return part;
  if (!/^[0-9a-f-]{4,35}$/.test(part))
    throw usageError(`"${text}" is not a group ID: "phalanx groups" lists the groups.`);
  const all = await readAll(
    (query) => api.call(groupRoutes.list, { query }),
    (page) => page.groups,
  );
  const found = all.filter(({ id }) => id.startsWith(part) || id.endsWith(part));
  const [only] = found;
  if (only === undefined) throw usageError(`Unknown group "${text}": "phalanx groups" lists the groups.`);
  if (found.length === 1) return only.id;
  throw usageError(`Several groups begin or end with "${text}": pass more characters of the ID.`);
}

function printGroup(group: RecordGroup, json: true | undefined): void {
  if (json) return printJson({ success: true, group });
  console.log(printable(`Group ${group.id}: ${stateOf(group)}, ${countsOf(group)}.`));
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
const countsOf = ({ records, phones }: RecordGroup): string =>
  `${plural(records, 'record')} of ${plural(phones, 'phone')}`;

function stateOf({ status, solved_in: commit, reopened_by: reopened, assignee }: RecordGroup): string {
  const solved = status === 'solved' && commit !== null ? ` in ${commit.slice(0, 8)}` : '';
  const again = status === 'open' && reopened !== null ? ' again' : '';
  return `${status}${solved}${again}${assignee === null ? '' : `, ${assignee.name}`}`;
}

function screenOf({ title, next_stage: stage, screen_state: state }: RecordGroup): string {
  const way = stage === '' ? state : `${stage} at ${state}`;
  return `${title || '(no text)'}, ${way}`;
}

const errorOf = ({ error }: RecordGroup): string | undefined =>
  error === null
    ? undefined
    : `${error.name}${error.place === null ? '' : ` at ${error.place}`}: ${error.message}`;

const row = (group: RecordGroup): Record<string, string> => ({
  group: group.id,
  automation: group.automation_name,
  status: stateOf(group),
  records: String(group.records),
  phones: String(group.phones),
  ago: formatAge(group.last_seen),
  'screen or error': errorOf(group) ?? screenOf(group),
});

const proofText: Record<NonNullable<RecordGroup['proved']>, string> = {
  yes: 'yes: the commit recognises and handles all kept screens',
  no: 'no: the commit does not recognise or handle all kept screens',
  not_replayable: 'not replayable: the code does not report a state for some screens',
};

interface GroupFacts {
  kept_screens: readonly string[];
  app_versions: { version: string | null; records: number }[];
  languages: { language: string | null; records: number }[];
}

const spreadText = (counts: readonly (readonly [string | null, number])[]): string =>
  counts.map(([value, records]) => `${value ?? 'unknown'} (${records})`).join(', ') || '-';

function printHead(group: RecordGroup, { kept_screens: kept, app_versions, languages }: GroupFacts): void {
  const error = errorOf(group);
  const lines: Record<string, string> = {
    Group: group.id,
    Automation: `${group.automation_name} (${group.automation_id})`,
    ...(error === undefined ? { Screen: screenOf(group) } : { Error: error }),
    App: group.package_name,
    Versions: spreadText(app_versions.map(({ version, records }) => [version, records])),
    Languages: spreadText(languages.map(({ language, records }) => [language, records])),
    Status: stateOf(group),
    Records: countsOf(group),
    Seen: `${new Date(group.first_seen).toISOString()} to ${new Date(group.last_seen).toISOString()}`,
    ...(kept.length === 0 ? {} : { Kept: `${kept.join(' ')} (for replays)` }),
    ...(group.proved === null ? {} : { Proved: proofText[group.proved] }),
    ...(group.reopened_by === null ? {} : { Reopened: `by record ${group.reopened_by}` }),
  };
  for (const [name, value] of Object.entries(lines))
    console.log(`${name.padEnd(11)} ${printableLine(value)}`);
  console.log();
}

const reasonText = ({ by, likeness, id }: JoinReason): string =>
  ({
    new: 'the first record of the group',
    key: 'the same fingerprint',
    likeness: `${Math.round((likeness ?? 0) * 100)} % alike`,
    id: `has the ID ${id ?? ''}`,
    error: 'the same error at the same place',
    person: 'added by a user',
  })[by];

const recordRow = (record: GroupRecord): Record<string, string> => ({
  record: record.record_id,
  device: `${record.device_info.brand} ${record.device_info.model}`.trim(),
  app: record.app?.version ?? '-',
  status: `${record.status}${record.outdated ? ', outdated' : ''}`,
  commit: record.commit?.slice(0, 8) ?? '-',
  ago: formatAge(Date.parse(record.added)),
  reason: reasonText(record.reason),
});

import type { JoinReason, RecordedApp } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { reportReopened } from '../../../storage/db/app-versions.ts';
import type { Db, Transaction } from '../../../storage/db/database.ts';
import { type OutboxEvent, addToOutbox } from '../../../storage/db/webhook-outbox.ts';
import { transact } from '../../../storage/db/transactions.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';
import { isUuidV7, timeOfUuidV7 } from '../../../kernel/uuid-v7.ts';
import { type Claim, finishIn } from '../../../storage/db/work-queue.ts';
import { lockRecordsOf } from '../retention/retention-store.ts';
import { metVersionOf, readApp, type StoredRecord } from '../stored-record.ts';
import type { GroupingFacts } from './enqueue-grouping.ts';
import { listCompared, addPrint } from './prints/group-prints-store.ts';
import { hasPhone, type StoredGroup } from './membership-store.ts';
import { findGroup } from './prints/nearest-group.ts';
import type { PrintJson } from './prints/process/messages.ts';
import type { ScreenPrint } from './prints/screen-print.ts';
import { crashOf, firstSentence } from './crash.ts';

/** Record that this server is grouping. */
export interface Grouping extends GroupingFacts {
  readonly record_id: string;
  /** Claim of this record alone. */
  readonly claim: Claim;
}

const maxGroups = 2000;
const maxTitleLength = 80;

export interface ReadScreen {
  print: ScreenPrint;
  json: PrintJson;
  /** JSON of its `ScreenTree`. */
  tree: Uint8Array;
}

/** Commits that were looked up, each with whether the run's commit contains it. */
export type Contained = ReadonlyMap<string, boolean>;

export type Joined =
  | { kind: 'gone' }
  /** Nothing is stored: the caller must first look up whether the record's commit contains this one. */
  | { kind: 'ask'; commit: string; projectId: string; ownerId: string }
  | { kind: 'joined'; group: StoredGroup };

export type JoiningStore = ReturnType<typeof createJoiningStore>;

/** Creates the store that puts records into groups. */
export function createJoiningStore(db: Db) {
  return {
    /** Stores why a record can never be grouped, and finishes its claim. */
    refuse: (grouping: Grouping, problem: string): Promise<void> =>
      settle(db, grouping, async (transaction, record) => {
        if (await finishIn(transaction, grouping.claim))
          await addMember(transaction, memberOf(grouping, record, { problem }));
      }).then(() => undefined),

    join: (grouping: Grouping, screen: ReadScreen, contained: Contained): Promise<Joined> =>
      settle(db, grouping, (transaction, record) =>
        join(transaction, { grouping, record, screen, contained }),
      ).then((joined) => joined ?? { kind: 'gone' }),
  };
}

/** Runs `work` on a record under the lock of its automation. Returns undefined when the record was deleted. */
const settle = <Result>(
  db: Db,
  { record_id: id, claim }: Grouping,
  work: (transaction: Transaction, record: StoredRecord) => Promise<Result>,
): Promise<Result | undefined> =>
  transact(db, async (transaction) => {
    const query = transaction.selectFrom('record').selectAll().where('id', '=', id);
    const found = await query.executeTakeFirst();
    if (found !== undefined) await lockRecordsOf(transaction, found);
    const record = found && (await query.executeTakeFirst());
    if (record !== undefined) return work(transaction, record);
    await finishIn(transaction, claim);
    return undefined;
  });

interface Given {
  grouping: Grouping;
  record: StoredRecord;
  screen: ReadScreen;
  contained: Contained;
}

const memberOf = (
  { record_id, screen_id, commit_hash }: Grouping,
  { device_id, app: json }: StoredRecord,
  more: Partial<Row<'group_member'>>,
): Row<'group_member'> => {
  const app = readApp(json);
  return {
    record_id,
    screen_id,
    device_id,
    commit_hash,
    app_version: app?.version ?? null,
    language: languageOf(app),
    group_id: null,
    print_key: null,
    reason: null,
    problem: '',
    is_outdated: 0,
    ...more,
  };
};

/** Returns the language without its region, because most apps use the same words in all regions. */
const languageOf = (app: RecordedApp | undefined): string | null =>
  app?.language?.split('-', 1)[0]?.toLowerCase() ?? null;

async function addMember(transaction: Transaction, member: Row<'group_member'>): Promise<void> {
  await transaction.insertInto('group_member').values(member).execute();
}

async function join(transaction: Transaction, given: Given): Promise<Joined> {
  const { grouping, record, screen, contained } = given;
  const key = crashOf(record)?.key ?? screen.print.key;
  const found = await findGroupOf(transaction, record, screen.print);
  const commit = found && commitToAskFor(found.group, grouping);
  const { project_id: projectId, owner_id: ownerId } = record;
  if (commit !== undefined && projectId !== null && !contained.has(commit))
    return { kind: 'ask', commit, projectId, ownerId };
  // Another server has grouped the record, or has claimed it.
  if (!(await finishIn(transaction, grouping.claim))) return { kind: 'gone' };
  const group = found?.group ?? (await addGroup(transaction, given));
  if (group === undefined) {
    await addMember(transaction, memberOf(grouping, record, { problem: tooMany }));
    return { kind: 'gone' };
  }
  const reason: JoinReason = found?.reason ?? { by: 'new' };
  if (reason.by !== 'key' && reason.by !== 'error') await addPrintOf(transaction, group, given);
  const isSolved = group.status === 'solved';
  const isNewer = isSolved && isOfNewerCode(group, given);
  const met = isNewer ? metVersionOf(record) : undefined;
  const hasNewVersion = met !== undefined && (await isNewVersion(transaction, group.id, met.version));
  const phones = group.phones + ((await hasPhone(transaction, group.id, record.device_id)) ? 0 : 1);
  const change = {
    records: group.records + 1,
    phones,
    first_seen: Math.min(group.first_seen, record.added_at),
    last_seen: Math.max(group.last_seen, record.added_at),
    ...(isNewer ? { status: 'open' as const, reopened_at: record.added_at, reopened_by: record.id } : {}),
  };
  const of = { group_id: group.id, print_key: key, reason: JSON.stringify(reason) };
  await addMember(
    transaction,
    memberOf(grouping, record, { ...of, is_outdated: isSolved && !isNewer ? 1 : 0 }),
  );
  await transaction.updateTable('record_group').set(change).where('id', '=', group.id).execute();
  if (found === undefined) await addToOutbox(transaction, 'group.opened', [openedEvent(group, record)]);
  if (isNewer) await addToOutbox(transaction, 'group.reopened', [reopenedEvent(group, record)]);
  if (hasNewVersion) await reportReopened(transaction, { ...met, groupId: group.id }, record.added_at);
  return { kind: 'joined', group: { ...group, ...change } };
}

/** Whether the version is new to the group: its records have other versions of the app, but not this one. */
async function isNewVersion(transaction: Transaction, groupId: string, version: string): Promise<boolean> {
  const known = transaction
    .selectFrom('group_member')
    .select('record_id')
    .where('group_id', '=', groupId)
    .where('app_version', 'is not', null);
  const isKnown = (await known.where('app_version', '=', version).limit(1).executeTakeFirst()) !== undefined;
  return !isKnown && (await known.limit(1).executeTakeFirst()) !== undefined;
}

/** Outbox event of a new group. */
const openedEvent = (group: StoredGroup, record: StoredRecord): OutboxEvent<'group.opened'> => {
  const { owner_id: ownerId, automation_id: automationId, automation_name } = group;
  return {
    at: record.added_at,
    data: { group_id: group.id, automation_id: automationId, automation_name, record_id: record.id },
    audience: { kind: 'record', ownerId, automationId, isDirect: group.project_id === null },
  };
};

const reopenedEvent = (group: StoredGroup, record: StoredRecord): OutboxEvent<'group.reopened'> => {
  const { data, ...rest } = openedEvent(group, record);
  return {
    ...rest,
    data: { ...data, assignee_id: group.assignee_id, solved_in: group.solved_commit },
  };
};

const tooMany = `The automation has ${maxGroups} groups with records, the maximum.`;

const commitToAskFor = (
  { status, solved_commit: solved }: StoredGroup,
  { commit_hash: commit }: Grouping,
): string | undefined => (status === 'solved' && solved !== null && commit !== null ? solved : undefined);

/**
 * Whether the record comes from newer code than the solution. Without commits, a run that began later counts as newer.
 */
function isOfNewerCode(group: StoredGroup, { grouping, record, contained }: Given): boolean {
  const asked = commitToAskFor(group, grouping);
  if (asked !== undefined) return contained.get(asked) === true;
  const begun = isUuidV7(record.run_id) ? timeOfUuidV7(record.run_id) : record.added_at;
  return begun > (group.solved_at ?? 0);
}

interface Found {
  group: StoredGroup;
  reason: JoinReason;
}

async function findGroupOf(
  transaction: Transaction,
  record: StoredRecord,
  print: ScreenPrint,
): Promise<Found | undefined> {
  const { owner_id, automation_id, app } = record;
  const crash = crashOf(record);
  const known = await transaction
    .selectFrom('group_print')
    .select('group_id')
    .where('owner_id', '=', owner_id)
    .where('automation_id', '=', automation_id)
    .where('print_key', '=', crash?.key ?? print.key)
    .executeTakeFirst();
  if (known !== undefined) {
    const group = await getGroup(transaction, known.group_id);
    return { group, reason: { by: crash === undefined ? 'key' : 'error' } };
  }
  if (crash !== undefined) return undefined;
  const groups = await listCompared(transaction, { owner_id, automation_id }, print.packageName);
  const joining = findGroup({ print, language: languageOf(readApp(app)) }, groups);
  return joining && { group: await getGroup(transaction, joining.groupId), reason: joining.reason };
}

const getGroup = (transaction: Transaction, id: string): Promise<StoredGroup> =>
  transaction.selectFrom('record_group').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

async function addPrintOf(transaction: Transaction, group: StoredGroup, given: Given): Promise<void> {
  const { grouping, record, screen } = given;
  const { record_id, screen_id } = grouping;
  const app = readApp(record.app);
  const shown = await getScreen(transaction, { record_id, screen_id });
  await addPrint(transaction, {
    group,
    json: screen.json,
    tree: screen.tree,
    screen: { record_id, ...shown },
    crashKey: crashOf(record)?.key,
    language: languageOf(app),
    appVersion: app?.version ?? null,
    addedAt: record.added_at,
  });
}

const getScreen = (
  transaction: Transaction,
  { record_id, screen_id }: Pick<Grouping, 'record_id' | 'screen_id'>,
): Promise<Pick<Row<'record_screen'>, 'next_stage' | 'screen_state'>> =>
  transaction
    .selectFrom('record_screen')
    .select(['next_stage', 'screen_state'])
    .where('record_id', '=', record_id)
    .where('screen_id', '=', screen_id)
    .executeTakeFirstOrThrow();

/** Returns the title of a crash: the start of its message. */
const titleOfCrash = (message: string): string =>
  firstSentence(message).slice(0, maxTitleLength).toWellFormed();

/** Returns the title of a screen: its first words. */
export const titleOf = ({ words }: ScreenPrint): string =>
  [...words.keys()].slice(0, 3).join(' · ').slice(0, maxTitleLength).toWellFormed();

/** Adds a group for the record. Returns undefined when the automation has too many groups. */
async function addGroup(transaction: Transaction, given: Given): Promise<StoredGroup | undefined> {
  const { record, grouping, screen } = given;
  const { owner_id, automation_id, project_id, automation_name, added_at } = record;
  if (!(await hasRoom(transaction, record))) return undefined;
  const shown = await getScreen(transaction, grouping);
  const crash = crashOf(record);
  const title = crash === undefined ? titleOf(screen.print) : titleOfCrash(crash.error.message);
  const group: StoredGroup = {
    id: uuidv7(),
    owner_id,
    automation_id,
    project_id,
    automation_name,
    ...shown,
    package_name: screen.print.packageName.toWellFormed(),
    title,
    status: 'open',
    assignee_id: null,
    solved_commit: null,
    solved_at: null,
    reopened_at: null,
    reopened_by: null,
    records: 0,
    phones: 0,
    first_seen: added_at,
    last_seen: added_at,
    merged_into: null,
    last_move: null,
    first_version: readApp(record.app)?.version ?? null,
  };
  await transaction.insertInto('record_group').values(group).execute();
  return group;
}

/** Whether the automation has room for a group. At the limit, deletes its oldest group without records to make room. */
async function hasRoom(
  transaction: Transaction,
  { owner_id, automation_id }: StoredRecord,
): Promise<boolean> {
  const ofAutomation = transaction
    .selectFrom('record_group')
    .where('owner_id', '=', owner_id)
    .where('automation_id', '=', automation_id);
  const { count } = await ofAutomation
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count < maxGroups) return true;
  const empty = await ofAutomation
    .select('id')
    .where('records', '=', 0)
    .orderBy('last_seen')
    .limit(1)
    .executeTakeFirst();
  if (empty === undefined) return false;
  await transaction.deleteFrom('record_group').where('id', '=', empty.id).execute();
  return true;
}

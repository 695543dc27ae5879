import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../storage/db/database.ts';
import { allCells, listKey, type RecordList } from '../stored-record.ts';

/**
 * Conditions that select the rows of `record` in a list. Each combination has an index that goes on with cell and ID.
 */
export function listConditions({ ownerId, automationId, tag }: RecordList): RawBuilder<unknown> {
  const conditions = [sql`owner_id = ${ownerId}`];
  if (automationId !== null) conditions.push(sql`automation_id = ${automationId}`);
  if (tag !== null) conditions.push(sql`tag = ${tag}`);
  return sql.join(conditions, sql` and `);
}

/** Rows of values; SQLite and PostgreSQL name the columns `column1`, `column2`, … */
export const valuesOf = (rows: readonly (readonly (string | number)[])[]): RawBuilder<unknown> =>
  sql`values ${sql.join(rows.map((row) => sql`(${sql.join(row.map(typed))})`))}`;

/** PostgreSQL takes a parameter in `values` for a text. */
const typed = (value: string | number): RawBuilder<unknown> =>
  typeof value === 'number' ? sql`cast(${value} as bigint)` : sql`${value}`;

/**
 * How many records of each cell every list has, below every node. A node with more records than this has children;
 * within one without, what is newer than an ID is counted in the records themselves.
 */
const leafSize = 128;

interface NodeRow {
  list: string;
  node: string;
  is_split: number;
}

const column = (cell: number): RawBuilder<unknown> => sql.raw(`c${cell}`);
const sumOf = (cells: readonly number[]): RawBuilder<unknown> =>
  cells.length === 0 ? sql`0` : sql.join(cells.map(column), sql` + `);

const sumOfCounts = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);

/** The lowest of the nodes above an ID that each list has; the level is the first digit of a name. */
function lowestByList<Row extends NodeRow>(rows: readonly Row[]): Map<string, Row> {
  const lowest = new Map<string, Row>();
  for (const row of rows) {
    const known = lowest.get(row.list);
    if (known === undefined || row.node > known.node) lowest.set(row.list, row);
  }
  return lowest;
}

const above = (lists: readonly RecordList[], id: string): RawBuilder<unknown> =>
  sql`list in (${sql.join(lists.map(listKey))}) and node in (${sql.join(nodesAbove(id))})`;

async function insertNode(db: Db, { list, node }: { list: string; node: string }, cell: number) {
  await sql`insert into record_tally (list, node, n, ${column(cell)}) values (${list}, ${node}, 1, 1)`.execute(
    db,
  );
}

/** Gives a node children that hold its counts in parts, and these too if one of them is too large. */
async function split(db: Db, list: RecordList, node: string): Promise<void> {
  const length = childPrefixLength(node);
  const { rows } = await sql<{ prefix: string; cell: number; n: number }>`
    select substr(id, 1, ${length}) as prefix, cell, count(*) as n from record
    where ${listConditions(list)} and cell in (${sql.join(allCells)})
      and id >= ${prefixOf(node)} and id < ${prefixOf(node) + afterDigits}
    group by 1, 2`.execute(db);
  const children = new Map<string, number[]>();
  for (const { prefix, cell, n } of rows) {
    const counts = children.get(prefix) ?? allCells.map(() => 0);
    counts[cell] = n;
    children.set(prefix, counts);
  }
  const values = [...children].map(
    ([prefix, counts]) =>
      sql`(${listKey(list)}, ${childNamed(node, prefix)}, ${sumOfCounts(counts)}, ${sql.join(counts)})`,
  );
  await sql`insert into record_tally (list, node, n, ${sql.join(allCells.map(column))})
    values ${sql.join(values)}`.execute(db);
  await sql`update record_tally set is_split = 1 where list = ${listKey(list)} and node = ${node}`.execute(
    db,
  );
  for (const [prefix, counts] of children)
    if (sumOfCounts(counts) > leafSize) await split(db, list, childNamed(node, prefix));
}

/** Counts a record that has been inserted. */
export async function addToTallies(
  db: Db,
  lists: readonly RecordList[],
  { id, cell }: { id: string; cell: number },
): Promise<void> {
  const { rows } = await sql<NodeRow & { n: number }>`
    update record_tally set n = n + 1, ${column(cell)} = ${column(cell)} + 1
    where ${above(lists, id)} returning list, node, is_split, n`.execute(db);
  const lowest = lowestByList(rows);
  for (const list of lists) {
    const key = listKey(list);
    const leaf = lowest.get(key);
    if (leaf === undefined) await insertNode(db, { list: key, node: rootNode }, cell);
    else if (leaf.is_split === 1) {
      const node = childNamed(leaf.node, id.slice(0, childPrefixLength(leaf.node)));
      await insertNode(db, { list: key, node }, cell);
    } else if (leaf.n > leafSize) await split(db, list, leaf.node);
  }
}

/** Moves a record's count from one cell to another. */
export async function moveInTallies(
  db: Db,
  lists: readonly RecordList[],
  { id, from, to }: { id: string; from: number; to: number },
): Promise<void> {
  if (from === to) return;
  await sql`
    update record_tally set ${column(from)} = ${column(from)} - 1, ${column(to)} = ${column(to)} + 1
    where ${above(lists, id)}`.execute(db);
}

/** Takes a record that is deleted out of the counts. */
export async function removeFromTallies(
  db: Db,
  lists: readonly RecordList[],
  { id, cell }: { id: string; cell: number },
): Promise<void> {
  await sql`
    update record_tally set n = n - 1, ${column(cell)} = ${column(cell)} - 1
    where ${above(lists, id)}`.execute(db);
  await sql`delete from record_tally where ${above(lists, id)} and n = 0`.execute(db);
}

/** How many records of these cells the lists have together. */
export async function countInLists(
  db: Db,
  lists: readonly RecordList[],
  cells: readonly number[],
): Promise<number> {
  if (lists.length === 0) return 0;
  const { rows } = await sql<{ n: number | null }>`
    select sum(${sumOf(cells)}) as n from record_tally
    where list in (${sql.join(lists.map(listKey))}) and node = ${rootNode}`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

/** The records of these cells: all of them, and those that are newer than an ID, which need not exist. */
export async function countNewer(
  db: Db,
  lists: readonly RecordList[],
  { id, cells }: { id: string; cells: readonly number[] },
): Promise<{ total: number; newer: number }> {
  if (lists.length === 0) return { total: 0, newer: 0 };
  const { rows } = await sql<NodeRow & { matches: number }>`
    select list, node, is_split, ${sumOf(cells)} as matches from record_tally
    where ${above(lists, id)}`.execute(db);
  const total = rows.filter((row) => row.node === rootNode).reduce((sum, row) => sum + row.matches, 0);
  const lowest = lowestByList(rows);
  const leaves = lists.flatMap((list) => {
    const leaf = lowest.get(listKey(list));
    return leaf === undefined || leaf.is_split === 1
      ? []
      : [{ list, end: prefixOf(leaf.node) + afterDigits }];
  });
  const newer =
    (await countSiblings(db, [...lowest.values()], { id, cells })) +
    (await countInLeaves(db, leaves, { id, cells }));
  return { total, newer };
}

async function countSiblings(
  db: Db,
  lowest: readonly NodeRow[],
  { id, cells }: { id: string; cells: readonly number[] },
): Promise<number> {
  if (lowest.length === 0) return 0;
  const depth = Math.max(...lowest.map((row) => levelOf(row.node) + row.is_split));
  const steps = newerSiblings(id, depth);
  if (steps.length === 0) return 0;
  // A cross join keeps SQLite from turning the order around.
  const { rows } = await sql<{ n: number | null }>`
    select sum(${sumOf(cells)}) as n from (${valuesOf(steps)}) as step cross join record_tally
    where list in (${sql.join(lowest.map((row) => row.list))}) and node > step.column1 and node < step.column2`.execute(
    db,
  );
  return Number(rows[0]?.n ?? 0);
}

/** At most as many records a list as a leaf has. */
async function countInLeaves(
  db: Db,
  leaves: readonly { list: RecordList; end: string }[],
  { id, cells }: { id: string; cells: readonly number[] },
): Promise<number> {
  let count = 0;
  for (const { list, end } of leaves) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from record
      where ${listConditions(list)} and cell in (${sql.join(cells)}) and id > ${id} and id < ${end}`.execute(
      db,
    );
    count += Number(rows[0]?.n ?? 0);
  }
  return count;
}

/**
 * The tree in which records are counted: a node stands for the beginning that the IDs below it share, and its name is
 * its level (one base-36 digit) and that beginning. The first step is three hex digits, about two years of UUIDv7
 * time; each further step is one digit. Names of one level sort as their IDs do.
 */
const prefixLengths: readonly number[] = [0, 3, 4, 5, 6, 7, 8, ...digitsAfter(9)];

/** Ends of the digits after a position, without the dashes. */
function digitsAfter(first: number): number[] {
  const dashes = new Set([8, 13, 18, 23]);
  return Array.from({ length: 36 - first }, (_, offset) => first + offset)
    .filter((index) => !dashes.has(index))
    .map((index) => index + 1);
}

export const rootNode = '0';
/** Sorts after every hex digit, and so after everything that a node stands for. */
const afterDigits = 'g';

const nameAt = (id: string, level: number): string =>
  level.toString(36) + id.slice(0, prefixLengths[level] ?? 0);

const levelOf = (node: string): number => Number.parseInt(node.charAt(0), 36);
const prefixOf = (node: string): string => node.slice(1);
/** Length of the beginnings that the children of a node stand for. */
const childPrefixLength = (node: string): number => prefixLengths[levelOf(node) + 1] ?? 36;
const childNamed = (node: string, prefix: string): string => (levelOf(node) + 1).toString(36) + prefix;

/** The nodes above an ID, from the root down. */
const nodesAbove = (id: string): string[] => prefixLengths.map((_, level) => nameAt(id, level));

/** Below each node above an ID, down to a level: the children whose IDs are all newer. Both ends are exclusive. */
function newerSiblings(id: string, lowestLevel: number): [after: string, before: string][] {
  return Array.from({ length: lowestLevel }, (_, index) => {
    const level = index + 1;
    const parentPrefix = prefixOf(nameAt(id, index));
    return [nameAt(id, level), `${level.toString(36)}${parentPrefix}${afterDigits}`];
  });
}

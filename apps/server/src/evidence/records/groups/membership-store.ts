import { sql } from 'kysely';

import type { Transaction } from '../../../storage/db/database.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';

export type StoredGroup = Row<'record_group'>;
export type GroupMember = Row<'group_member'>;

/** Removes a deleted record from its group. The group stays, even without records. */
export async function leaveGroup(transaction: Transaction, recordId: string): Promise<void> {
  const member = await transaction
    .deleteFrom('group_member')
    .where('record_id', '=', recordId)
    .returningAll()
    .executeTakeFirst();
  if (member?.group_id === undefined || member.group_id === null) return;
  const phones = (await hasPhone(transaction, member.group_id, member.device_id)) ? 0 : 1;
  await transaction
    .updateTable('record_group')
    .set((eb) => ({ records: eb('records', '-', 1), phones: eb('phones', '-', phones) }))
    .where('id', '=', member.group_id)
    .execute();
}

export async function hasPhone(
  transaction: Transaction,
  groupId: string,
  deviceId: string,
): Promise<boolean> {
  const query = transaction.selectFrom('group_member').select('record_id');
  const ofPhone = query.where('group_id', '=', groupId).where('device_id', '=', deviceId);
  return (await ofPhone.limit(1).executeTakeFirst()) !== undefined;
}

/** Recounts the records and phones of a group after a bulk change. */
export async function countMembers(transaction: Transaction, groupId: string): Promise<void> {
  const of = (what: string) =>
    sql<number>`(select ${sql.raw(what)} from group_member where group_id = ${groupId})`;
  await transaction
    .updateTable('record_group')
    .set({ records: of('count(*)'), phones: of('count(distinct device_id)') })
    .where('id', '=', groupId)
    .execute();
}

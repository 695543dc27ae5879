import type { Db } from '../../../db/database.ts';
import { type KeptScreenRef, listKeptScreens, readKeptTrees } from './kept-screens-store.ts';

/** Copies of screens of groups, for replays. */
export interface KeptScreens {
  /** Of the automation's groups, or of the open ones. */
  list(automation: { ownerId: string; automationId: string }, onlyOpen: boolean): Promise<KeptScreenRef[]>;
  /** The JSON of their trees, by their prints. */
  readTrees(
    automation: { ownerId: string; automationId: string },
    printKeys: readonly string[],
  ): Promise<Map<string, string>>;
}

export const createKeptScreens = (db: Db): KeptScreens => ({
  list: ({ ownerId: owner_id, automationId: automation_id }, onlyOpen) =>
    listKeptScreens(db, { owner_id, automation_id }, onlyOpen),
  readTrees: ({ ownerId: owner_id, automationId: automation_id }, printKeys) =>
    readKeptTrees(db, { owner_id, automation_id }, printKeys),
});

import type { Db } from '../../../../storage/db/database.ts';
import {
  findLivingGroup,
  type KeptScreenRef,
  type KeptScreensWish,
  listKeptScreens,
  readKeptTrees,
} from './kept-screens-store.ts';

interface Automation {
  ownerId: string;
  automationId: string;
}

/** Copies of screens of groups, for replays. */
export interface KeptScreens {
  list(automation: Automation, wish: KeptScreensWish): Promise<KeptScreenRef[]>;
  /** The group, or the one that it was merged into; undefined: the automation has no such group. */
  findGroup(automation: Automation, groupId: string): Promise<string | undefined>;
  /** The JSON of their trees, by their prints. */
  readTrees(automation: Automation, printKeys: readonly string[]): Promise<Map<string, string>>;
}

export const createKeptScreens = (db: Db): KeptScreens => ({
  list: ({ ownerId: owner_id, automationId: automation_id }, wish) =>
    listKeptScreens(db, { owner_id, automation_id }, wish),
  findGroup: ({ ownerId: owner_id, automationId: automation_id }, groupId) =>
    findLivingGroup(db, { owner_id, automation_id }, groupId),
  readTrees: ({ ownerId: owner_id, automationId: automation_id }, printKeys) =>
    readKeptTrees(db, { owner_id, automation_id }, printKeys),
});

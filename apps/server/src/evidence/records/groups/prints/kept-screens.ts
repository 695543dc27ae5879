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

/** Kept copies of group screens, for replays. */
export interface KeptScreens {
  list(automation: Automation, wish: KeptScreensWish): Promise<KeptScreenRef[]>;
  /** Finds the group, or the one into which it was merged. Returns undefined when the automation has no such group. */
  findGroup(automation: Automation, groupId: string): Promise<string | undefined>;
  /** Reads the trees of kept screens as JSON, by print key. */
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

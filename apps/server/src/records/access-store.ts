import type { ProjectRole } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';
import type { ReviewScope } from './browse/record-list.ts';

/** An automation is known with its owner: two users may choose one launch ID. */
export interface OwnedAutomation extends ReviewScope {
  readonly automationId: string;
}

/** Who may see the records of which automation. Direct code has an owner only, the user who launched it. */
export interface AutomationAccess {
  findProject(projectId: string): Promise<{ ownerId: string; name: string } | undefined>;
  findRole(userId: string, automation: OwnedAutomation): Promise<ProjectRole | undefined>;
  /** The user's own automation of this ID, or a project that is shared with them. */
  findAutomation(userId: string, automationId: string): Promise<OwnedAutomation | undefined>;
  /** Projects of others that the user may edit. */
  listShared(userId: string): Promise<OwnedAutomation[]>;
  /** Everybody who may review the automation's records. */
  listReviewers(automation: OwnedAutomation): Promise<string[]>;
}

export function createAutomationAccess(db: Db): AutomationAccess {
  const findProject: AutomationAccess['findProject'] = async (projectId) => {
    const row = await db.selectFrom('project').selectAll().where('id', '=', projectId).executeTakeFirst();
    return row && { ownerId: row.owner_id, name: row.name };
  };

  const members = (ownerId: string, projectId: string) =>
    db
      .selectFrom('project_member as member')
      .innerJoin('project', 'project.id', 'member.project_id')
      .select(['member.user_id', 'member.role'])
      .where('project.id', '=', projectId)
      // Direct code of somebody else may bear the ID of a project.
      .where('project.owner_id', '=', ownerId);

  const findRole: AutomationAccess['findRole'] = async (userId, { ownerId, automationId }) => {
    if (userId === ownerId) return 'owner';
    const row = await members(ownerId, automationId).where('member.user_id', '=', userId).executeTakeFirst();
    return row?.role;
  };

  /** The history of launches is shorter than the life of records. */
  const isLaunchOf = async (userId: string, launchId: string): Promise<boolean> => {
    const launch = await db
      .selectFrom('launch')
      .select('launch_id')
      .where('user_id', '=', userId)
      .where('launch_id', '=', launchId)
      .executeTakeFirst();
    if (launch !== undefined) return true;
    const record = await db
      .selectFrom('record')
      .select('automation_id')
      .where('owner_id', '=', userId)
      .where('automation_id', '=', launchId)
      .limit(1)
      .executeTakeFirst();
    return record !== undefined;
  };

  return {
    findProject,
    findRole,

    async findAutomation(userId, automationId) {
      const projectId = automationId.toLowerCase();
      const project = await findProject(projectId);
      const shared = project && { ownerId: project.ownerId, automationId: projectId };
      if (shared !== undefined && (await findRole(userId, shared)) !== undefined) return shared;
      return (await isLaunchOf(userId, automationId)) ? { ownerId: userId, automationId } : undefined;
    },

    async listShared(userId) {
      const rows = await db
        .selectFrom('project_member as member')
        .innerJoin('project', 'project.id', 'member.project_id')
        .select(['project.id', 'project.owner_id'])
        .where('member.user_id', '=', userId)
        .where('member.role', '=', 'shared_editor')
        .where('project.owner_id', '!=', userId)
        .execute();
      return rows.map((row) => ({ ownerId: row.owner_id, automationId: row.id }));
    },

    async listReviewers({ ownerId, automationId }) {
      const rows = await members(ownerId, automationId).where('member.role', '=', 'shared_editor').execute();
      return [...new Set([ownerId, ...rows.map((row) => row.user_id)])];
    },
  };
}

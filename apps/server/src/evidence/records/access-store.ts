import { editors } from '../../code/projects/project-access.ts';
import { reachesProject } from '../../http/requests/policy.ts';
import type { ProjectRole } from '@phalanx/protocol';
import type { Db } from '../../storage/db/database.ts';
import type { ReviewScope, StoredRecord } from './stored-record.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';

/** Automation with its owner. Two users may choose the same launch ID, so the ID alone is ambiguous. */
export interface OwnedAutomation extends ReviewScope {
  readonly automationId: string;
}

/**
 * Finds the users who may see the records of an automation. Direct code has only an owner: the user who launched it.
 */
export interface AutomationAccess {
  findProject(projectId: string): Promise<{ ownerId: string; name: string } | undefined>;
  findRole(userId: string, automation: OwnedAutomation): Promise<ProjectRole | undefined>;
  /** Finds the user's own automation with this ID, or a project that is shared with them. */
  findAutomation(userId: string, automationId: string): Promise<OwnedAutomation | undefined>;
  /**
   * Lists projects of other users that the user may edit and has accepted, plus the shared project `named`, accepted or
   * not.
   */
  listShared(userId: string, named: string | undefined): Promise<OwnedAutomation[]>;
  /** Lists all users who may review the automation's records. */
  listReviewers(automation: OwnedAutomation): Promise<string[]>;
  /** Lists the reviewers who own the automation or have accepted it. */
  listAcceptedReviewers(automation: OwnedAutomation): Promise<string[]>;
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
      // Direct code of another user may use the ID of a project.
      .where('project.owner_id', '=', ownerId);

  const reviewers = (ownerId: string, projectId: string) =>
    members(ownerId, projectId).where('member.role', '=', 'shared_editor');

  const findRole: AutomationAccess['findRole'] = async (userId, { ownerId, automationId }) => {
    if (userId === ownerId) return 'owner';
    const row = await members(ownerId, automationId).where('member.user_id', '=', userId).executeTakeFirst();
    return row?.role;
  };

  /** Whether the launch is the user's. Records are checked too, because they outlive the launch history. */
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

    async listShared(userId, named) {
      const rows = await db
        .selectFrom('project_member as member')
        .innerJoin('project', 'project.id', 'member.project_id')
        .select(['project.id', 'project.owner_id'])
        .where('member.user_id', '=', userId)
        .where('member.role', '=', 'shared_editor')
        .where('project.owner_id', '!=', userId)
        .where((eb) => eb.or([eb('member.accepted_at', 'is not', null), eb('project.id', '=', named ?? '')]))
        .execute();
      return rows.map((row) => ({ ownerId: row.owner_id, automationId: row.id }));
    },

    async listReviewers({ ownerId, automationId }) {
      return withOwner(ownerId, await reviewers(ownerId, automationId).execute());
    },

    async listAcceptedReviewers({ ownerId, automationId }) {
      const accepted = reviewers(ownerId, automationId).where('member.accepted_at', 'is not', null);
      return withOwner(ownerId, await accepted.execute());
    },
  };
}

const withOwner = (ownerId: string, rows: readonly { user_id: string }[]): string[] => [
  ...new Set([ownerId, ...rows.map((row) => row.user_id)]),
];

const isReviewer = (role: ProjectRole | undefined): boolean => role !== undefined && editors.includes(role);

/**
 * Lists the scopes that the caller may review: their own, and projects of others that they may edit and have either
 * accepted or named.
 */
export async function listScopes(
  access: AutomationAccess,
  principal: Principal,
  named: string | undefined,
): Promise<ReviewScope[]> {
  const shared = await access.listShared(principal.userId, named?.toLowerCase());
  const { userId: ownerId, projectIds } = principal;
  if (projectIds === null) return [{ ownerId, automationId: null }, ...shared];
  const own = [...projectIds].map((automationId) => ({ ownerId, automationId }));
  return [...own, ...shared.filter(({ automationId }) => projectIds.has(automationId))];
}

/** Returns the spellings of an automation ID. Project IDs are case-insensitive; launch IDs match only as given. */
const namesOf = (automationId: string): string[] => [...new Set([automationId, automationId.toLowerCase()])];

/** Narrows the scopes to one automation. */
export const scopesOf = (scopes: readonly ReviewScope[], automationId: string): ReviewScope[] =>
  namesOf(automationId).flatMap((name) =>
    scopes
      .filter((scope) => (scope.automationId ?? name) === name)
      .map(({ ownerId }) => ({ ownerId, automationId: name })),
  );

/** Whether the caller may review the data of an automation. */
export async function isReviewerOf(
  access: AutomationAccess,
  principal: Principal,
  { owner_id: ownerId, automation_id: automationId }: Pick<StoredRecord, 'owner_id' | 'automation_id'>,
): Promise<boolean> {
  const role = await access.findRole(principal.userId, { ownerId, automationId });
  return isReviewer(role) && reachesProject(principal, automationId);
}

/** Throws `forbidden` unless the caller may review the record. */
export async function requireReviewer(
  access: AutomationAccess,
  principal: Principal,
  record: StoredRecord,
): Promise<void> {
  if (await isReviewerOf(access, principal, record)) return;
  throw ApiError.of('forbidden', {
    reason: `Only the owner and the shared editors of automation ${record.automation_id} can review its records`,
  });
}

/** Throws `forbidden` for an automation that is unknown or that the caller may not review. */
export async function getReviewable(
  access: AutomationAccess,
  principal: Principal,
  automationId: string,
): Promise<OwnedAutomation> {
  const automation = await access.findAutomation(principal.userId, automationId);
  const role = automation && (await access.findRole(principal.userId, automation));
  if (automation !== undefined && isReviewer(role) && reachesProject(principal, automation.automationId))
    return automation;
  throw ApiError.of('forbidden', {
    reason: `Automation ${automationId} is unknown, or you are neither its owner nor a shared editor`,
  });
}

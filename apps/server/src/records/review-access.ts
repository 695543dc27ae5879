import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import type { AutomationAccess, OwnedAutomation } from './access-store.ts';
import type { ReviewScope } from './browse/record-list.ts';
import type { StoredRecord } from './stored-record.ts';

const isReviewer = (role: string | undefined): boolean => role === 'owner' || role === 'shared_editor';

/** A token may be limited to projects; then it sees the records of these only. */
const allows = (principal: Principal, automationId: string): boolean =>
  principal.projectIds?.has(automationId) !== false;

/** All that the caller may review: what they own, and the projects of others that they may edit. */
export async function listScopes(access: AutomationAccess, principal: Principal): Promise<ReviewScope[]> {
  const shared = await access.listShared(principal.userId);
  const { userId: ownerId, projectIds } = principal;
  if (projectIds === null) return [{ ownerId, automationId: null }, ...shared];
  const own = [...projectIds].map((automationId) => ({ ownerId, automationId }));
  return [...own, ...shared.filter(({ automationId }) => projectIds.has(automationId))];
}

/** A project's ID is known in either letter case, a launch ID only as it was given. */
const namesOf = (automationId: string): string[] => [...new Set([automationId, automationId.toLowerCase()])];

/** The part of the scopes that belongs to one automation. */
export const scopesOf = (scopes: readonly ReviewScope[], automationId: string): ReviewScope[] =>
  namesOf(automationId).flatMap((name) =>
    scopes
      .filter((scope) => (scope.automationId ?? name) === name)
      .map(({ ownerId }) => ({ ownerId, automationId: name })),
  );

/** Whether the caller may review what belongs to an automation. */
export async function isReviewerOf(
  access: AutomationAccess,
  principal: Principal,
  { owner_id: ownerId, automation_id: automationId }: Pick<StoredRecord, 'owner_id' | 'automation_id'>,
): Promise<boolean> {
  const role = await access.findRole(principal.userId, { ownerId, automationId });
  return isReviewer(role) && allows(principal, automationId);
}

/** Throws `forbidden` unless the caller may review the record. */
export async function requireReviewer(
  access: AutomationAccess,
  principal: Principal,
  record: StoredRecord,
): Promise<void> {
  if (await isReviewerOf(access, principal, record)) return;
  throw ApiError.of('forbidden', {
    reason: `Only the owner and the shared editors of automation ${record.automation_id} review its records`,
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
  if (automation !== undefined && isReviewer(role) && allows(principal, automation.automationId))
    return automation;
  throw ApiError.of('forbidden', {
    reason: `Automation ${automationId} is unknown, or you are neither its owner nor a shared editor`,
  });
}

import { Compile } from 'typebox/compile';
import { Audience } from '../../storage/db/webhook-outbox.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { RunAccess } from '../../runs/runs/run-access.ts';

const validator = Compile(Audience);

interface AudienceOptions {
  devices: DeviceAccess;
  people: ProjectPeople;
  runAccess: RunAccess;
  /** Lists all users who may review the records of a project, and have accepted it. */
  listAcceptedReviewers: (automation: { ownerId: string; automationId: string }) => Promise<string[]>;
}

export const readAudience = (json: string): Audience => validator.Parse(JSON.parse(json));

/**
 * Lists the current recipients of an event. Users receive events about shared objects after they have accepted the
 * share.
 */
export async function recipientsOf(
  { devices, people, runAccess, listAcceptedReviewers }: AudienceOptions,
  audience: Audience,
): Promise<string[]> {
  if (audience.kind === 'run') return runAccess.listRecipients(audience);
  if (audience.kind === 'record')
    return audience.isDirect ? [audience.ownerId] : listAcceptedReviewers(audience);
  if (audience.kind === 'schedule')
    return [...new Set([audience.userId, ...(await people.acceptedOf(audience.automationId))])];
  if (audience.kind === 'user') return [audience.userId];
  const device = await devices.fleet.find(audience.deviceId);
  return device === undefined ? [] : devices.shares.acceptedUsersOf(device);
}

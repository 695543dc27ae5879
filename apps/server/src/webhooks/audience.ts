import { Compile } from 'typebox/compile';

import { Audience } from '../db/webhook-outbox.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { ProjectPeople } from '../projects/project-people.ts';
import type { RunAccess } from '../runs/run-access.ts';

interface Options {
  devices: DeviceAccess;
  people: ProjectPeople;
  runAccess: RunAccess;
  /** Everybody who may review the records of a project. */
  listReviewers: (automation: { ownerId: string; automationId: string }) => Promise<string[]>;
}

const validator = Compile(Audience);
export const readAudience = (json: string): Audience => validator.Parse(JSON.parse(json));

/** The users who may hear of something at this moment. */
export async function listHearers(
  { devices, people, runAccess, listReviewers }: Options,
  audience: Audience,
): Promise<string[]> {
  if (audience.kind === 'run') return runAccess.listReaders(audience);
  if (audience.kind === 'record') return audience.isDirect ? [audience.ownerId] : listReviewers(audience);
  if (audience.kind === 'schedule')
    return [...new Set([audience.userId, ...(await people.of(audience.automationId)).keys()])];
  if (audience.kind === 'user') return [audience.userId];
  const device = await devices.fleet.find(audience.deviceId);
  return device === undefined ? [] : devices.shares.usersOf(device);
}

/** Of which project it is; undefined: of none. */
export const projectOf = (audience: Audience): string | undefined =>
  'automationId' in audience ? audience.automationId : undefined;

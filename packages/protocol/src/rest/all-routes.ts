import { accessRoutes, sessionRoutes } from './http/access.ts';
import { auditRoutes } from './http/audit.ts';
import { commitRoutes } from './code/commits.ts';
import type { RouteContract } from './contract.ts';
import { deviceControlRoutes } from './control/device-control.ts';
import { deviceRoutes } from './fleet/devices.ts';
import { driftRoutes } from './evidence/drift.ts';
import { eventRoutes } from './runs/events.ts';
import { fileRoutes } from './code/files.ts';
import { filmRoutes } from './runs/film.ts';
import { healthRoutes } from './http/health.ts';
import { helpRoutes } from './operations/help.ts';
import { jobRoutes } from './work/jobs.ts';
import { labelRoutes, poolRoutes } from './fleet/labels.ts';
import { launchRoutes } from './runs/launches.ts';
import { logRoutes } from './runs/logs.ts';
import { pairingRoutes } from './fleet/pairings.ts';
import { projectRoutes } from './code/projects.ts';
import { groupRoutes } from './evidence/record-groups.ts';
import { recordRoutes } from './evidence/records.ts';
import { replayRoutes } from './evidence/replays.ts';
import { runTaskRoutes } from './work/run-tasks.ts';
import { runRoutes } from './runs/runs.ts';
import { secretRecipientRoutes, secretRoutes } from './code/secrets.ts';
import { scheduleRoutes } from './work/schedules.ts';
import { statsRoutes } from './runs/stats.ts';
import { shareRoutes } from './code/shares.ts';
import { deviceMemberRoutes, hostRoutes } from './fleet/members.ts';
import { traceRoutes } from './runs/trace.ts';
import { usageRoutes } from './http/usage.ts';
import { webhookRoutes } from './work/webhooks.ts';

const routeGroups = [
  launchRoutes,
  jobRoutes,
  scheduleRoutes,
  webhookRoutes,
  logRoutes,
  runRoutes,
  traceRoutes,
  filmRoutes,
  statsRoutes,
  deviceRoutes,
  labelRoutes,
  poolRoutes,
  deviceControlRoutes,
  deviceMemberRoutes,
  hostRoutes,
  shareRoutes,
  pairingRoutes,
  runTaskRoutes,
  projectRoutes,
  secretRoutes,
  secretRecipientRoutes,
  fileRoutes,
  commitRoutes,
  recordRoutes,
  groupRoutes,
  driftRoutes,
  replayRoutes,
  eventRoutes,
  accessRoutes,
  auditRoutes,
  usageRoutes,
  sessionRoutes,
  healthRoutes,
  helpRoutes,
] as const;

type RoutesOf<Group> = Group extends unknown ? Group[keyof Group] : never;

/** Contract of any endpoint, with its own schemas as types. */
export type AnyContract = RoutesOf<(typeof routeGroups)[number]>;

/** All endpoints, in the order of the document. */
export const allRoutes: readonly RouteContract[] = routeGroups.flatMap(
  (routes: Readonly<Record<string, RouteContract>>) => Object.values(routes),
);

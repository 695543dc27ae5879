import { accessRoutes, sessionRoutes } from './access/access.ts';
import { auditRoutes } from './access/audit.ts';
import { commitRoutes } from './projects/commits.ts';
import type { RouteContract } from './contract.ts';
import { deviceControlRoutes } from './fleet/device-control.ts';
import { deviceRoutes } from './fleet/devices.ts';
import { driftRoutes } from './records/drift.ts';
import { eventRoutes } from './events.ts';
import { fileRoutes } from './projects/files.ts';
import { filmRoutes } from './work/film.ts';
import { healthRoutes } from './health.ts';
import { helpRoutes } from './help.ts';
import { jobRoutes } from './work/jobs.ts';
import { labelRoutes, poolRoutes } from './fleet/labels.ts';
import { launchRoutes } from './work/launches.ts';
import { logRoutes } from './work/logs.ts';
import { pairingRoutes } from './fleet/pairings.ts';
import { projectRoutes } from './projects/projects.ts';
import { groupRoutes } from './records/record-groups.ts';
import { recordRoutes } from './records/records.ts';
import { replayRoutes } from './records/replays.ts';
import { runTaskRoutes } from './work/run-tasks.ts';
import { runRoutes } from './work/runs.ts';
import { secretRecipientRoutes, secretRoutes } from './projects/secrets.ts';
import { scheduleRoutes } from './work/schedules.ts';
import { statsRoutes } from './work/stats.ts';
import { deviceMemberRoutes, hostRoutes, shareRoutes } from './access/shares.ts';
import { traceRoutes } from './work/trace.ts';
import { usageRoutes } from './access/usage.ts';
import { webhookRoutes } from './webhooks.ts';

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

/** One of all endpoints, with its own schemas as types. */
export type AnyContract = RoutesOf<(typeof routeGroups)[number]>;

/** Every endpoint, in the order in which the document shows them. */
export const allRoutes: readonly RouteContract[] = routeGroups.flatMap(
  (routes: Readonly<Record<string, RouteContract>>) => Object.values(routes),
);

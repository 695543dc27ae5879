import { accessRoutes } from './access.ts';
import { auditRoutes } from './audit.ts';
import { commitRoutes } from './commits.ts';
import type { RouteContract } from './contract.ts';
import { deviceControlRoutes } from './device-control.ts';
import { deviceRoutes } from './devices.ts';
import { driftRoutes } from './drift.ts';
import { eventRoutes } from './events.ts';
import { fileRoutes } from './files.ts';
import { filmRoutes } from './film.ts';
import { healthRoutes } from './health.ts';
import { helpRoutes } from './help.ts';
import { jobRoutes } from './jobs.ts';
import { labelRoutes, poolRoutes } from './labels.ts';
import { launchRoutes } from './launches.ts';
import { logRoutes } from './logs.ts';
import { projectRoutes } from './projects.ts';
import { groupRoutes } from './record-groups.ts';
import { recordRoutes } from './records.ts';
import { replayRoutes } from './replays.ts';
import { runTaskRoutes } from './run-tasks.ts';
import { runRoutes } from './runs.ts';
import { secretRoutes } from './secrets.ts';
import { scheduleRoutes } from './schedules.ts';
import { sessionRoutes } from './session.ts';
import { statsRoutes } from './stats.ts';
import { deviceMemberRoutes, hostRoutes } from './shares.ts';
import { traceRoutes } from './trace.ts';
import { usageRoutes } from './usage.ts';
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
  runTaskRoutes,
  projectRoutes,
  secretRoutes,
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

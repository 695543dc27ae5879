import { accessRoutes } from './access.ts';
import { auditRoutes } from './audit.ts';
import { commitRoutes } from './commits.ts';
import type { RouteContract } from './contract.ts';
import { deviceControlRoutes } from './device-control.ts';
import { deviceRoutes } from './devices.ts';
import { eventRoutes } from './events.ts';
import { fileRoutes } from './files.ts';
import { healthRoutes } from './health.ts';
import { launchRoutes } from './launches.ts';
import { logRoutes } from './logs.ts';
import { projectRoutes } from './projects.ts';
import { recordRoutes } from './records.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './session.ts';
import { deviceMemberRoutes, hostRoutes } from './shares.ts';
import { usageRoutes } from './usage.ts';

/** Every endpoint, in the order in which the document shows them. */
export const allRoutes: readonly RouteContract[] = [
  launchRoutes,
  logRoutes,
  runRoutes,
  deviceRoutes,
  deviceControlRoutes,
  deviceMemberRoutes,
  hostRoutes,
  projectRoutes,
  fileRoutes,
  commitRoutes,
  recordRoutes,
  eventRoutes,
  accessRoutes,
  auditRoutes,
  usageRoutes,
  sessionRoutes,
  healthRoutes,
].flatMap((routes: Readonly<Record<string, RouteContract>>) => Object.values(routes));

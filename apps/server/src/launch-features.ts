import { stop as stopBundler } from 'esbuild';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import type { Clock } from './clock.ts';
import type { Compiler } from './compile/compiler.ts';
import type { Db } from './db/database.ts';
import type { GroupCommit } from './db/group-commit.ts';
import type { FleetFeatures } from './fleet-features.ts';
import { DirectLaunches } from './launches/direct-launches.ts';
import { deleteOldLaunches } from './launches/history.ts';
import { ParameterChecker } from './launches/parameters/parameter-checker.ts';
import { ProjectBundles } from './launches/project-bundles.ts';
import { ProjectLaunches } from './launches/project-launches.ts';
import { addLaunchRoutes } from './launches/routes.ts';
import { createLaunchStore } from './launches/store.ts';
import { periodically } from './periodically.ts';
import type { GetLaunchable } from './projects/launchable.ts';

interface LaunchFeaturesOptions {
  database: Db;
  commits: GroupCommit;
  clock: Clock;
  log: Logger;
  compiler: Compiler;
  getLaunchable: GetLaunchable;
  fleetFeatures: FleetFeatures;
  /** How long devices have to acknowledge a start or a stop. */
  ackTimeoutMs: number;
  historyDays: number;
}

export interface LaunchFeatures {
  addRoutes(app: FastifyInstance): void;
  close(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;

/** Starting and stopping automations. */
export function openLaunchFeatures(options: LaunchFeaturesOptions): LaunchFeatures {
  const { database, commits, clock, log, compiler, getLaunchable, ackTimeoutMs, historyDays } = options;
  const { fleet, runs, activeRuns, feed } = options.fleetFeatures;
  const launches = createLaunchStore(database, commits);
  const dispatcher = {
    ...{ launches, runs, activeRuns, clock, ackTimeoutMs },
    linkOf: (deviceId: string) => fleet.find(deviceId)?.link ?? null,
    onCreated: (runIds: readonly string[]) => feed.runsChanged(runIds),
  };
  const parameters = new ParameterChecker();
  const bundles = new ProjectBundles(compiler);

  const deleteOld = (): Promise<void> => deleteOldLaunches(launches, clock, historyDays);
  // At once too: a server that is restarted every day must not keep its history for ever.
  const deletedAtStart = deleteOld().catch((error: unknown) => {
    log.error({ err: error }, 'old launches could not be deleted');
  });
  const endDeletion = periodically(log, hourMs, deleteOld);

  return {
    addRoutes(app) {
      addLaunchRoutes(app, {
        directLaunches: new DirectLaunches(dispatcher, fleet),
        projectLaunches: new ProjectLaunches({ dispatcher, fleet, getLaunchable, bundles, parameters }),
        getLaunchable,
        stopper: { fleet, activeRuns, runs, stopTimeoutMs: ackTimeoutMs },
      });
    },
    async close() {
      await Promise.all([endDeletion(), deletedAtStart, parameters.close(), stopBundler()]);
    },
  };
}

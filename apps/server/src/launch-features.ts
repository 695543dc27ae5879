import type { Compiler } from './compile/compiler.ts';
import { nameOf } from './devices/online-devices.ts';
import type { FleetFeatures } from './fleet-features.ts';
import type { Foundation } from './foundation.ts';
import { DirectLaunches } from './launches/direct-launches.ts';
import { deleteOldLaunches } from './launches/history.ts';
import { ParameterChecker } from './launches/parameters/parameter-checker.ts';
import { Bundles } from './launches/bundles.ts';
import { ProjectLaunches } from './launches/project-launches.ts';
import type { NamesOf } from './launches/device-names.ts';
import { addLaunchRoutes } from './launches/routes.ts';
import { RunPlaces } from './launches/run-places.ts';
import { createLaunchStore, type LaunchStore } from './launches/store.ts';
import { periodically } from './periodically.ts';
import type { GetLaunchable } from './projects/project-files.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { RunStops } from './runs/active-runs.ts';

interface LaunchOptions {
  compiler: Compiler;
  getLaunchable: GetLaunchable;
  people: ProjectPeople;
  fleetFeatures: FleetFeatures;
  /** How long devices have to acknowledge a start or a stop. */
  ackTimeoutMs: number;
  historyDays: number;
}

const hourMs = 60 * 60 * 1000;

function keepHistoryShort(
  { app, clock, faults }: Foundation,
  launches: LaunchStore,
  { historyDays, fleetFeatures }: LaunchOptions,
): void {
  const deleteLogs = (runIds: readonly string[]): Promise<void> => fleetFeatures.keptLogs.delete(runIds);
  const deleteOld = (): Promise<void> => deleteOldLaunches(launches, { clock, historyDays, deleteLogs });
  // At once too: a server that is restarted every day must not keep its history for ever.
  const deletedAtStart = deleteOld().catch((error: unknown) => {
    faults.report(error, 'old launches could not be deleted');
  });
  app.addHook('onClose', () => deletedAtStart);
  app.addHook('onClose', periodically(faults, hourMs, deleteOld));
}

/** Starting and stopping automations. */
export function openLaunchFeatures(foundation: Foundation, options: LaunchOptions): void {
  const { app, database, commits, audit, clock, limits } = foundation;
  const { compiler, getLaunchable, people, fleetFeatures, ackTimeoutMs } = options;
  const { devices, hosts, runs, runAccess, activeRuns, runsCreated } = fleetFeatures;
  const launches = createLaunchStore(database, commits);
  const stops = new RunStops({ store: runs, activeRuns, hosts, timeoutMs: ackTimeoutMs });
  const namesOf: NamesOf = async (deviceIds) => {
    const known = await devices.fleet.findAll(deviceIds);
    return (id) => nameOf(known.get(id) ?? { id, serial: '' });
  };
  const dispatcher = {
    ...{ launches, audit, activeRuns, hosts, stops, clock, ackTimeoutMs, onCreated: runsCreated },
    places: new RunPlaces(limits, activeRuns),
    turns: limits.turns.launches,
    namesOf,
  };
  const parameters = new ParameterChecker(limits.turns.parameters);
  const bundles = new Bundles(compiler);
  addLaunchRoutes(app, {
    directLaunches: new DirectLaunches(dispatcher, devices, bundles),
    projectLaunches: new ProjectLaunches({ dispatcher, devices, getLaunchable, bundles, parameters }),
    getLaunchable,
    people,
    stopper: { devices, activeRuns, stops },
    runAccess,
    findRun: (runId) => runs.find(runId),
  });
  keepHistoryShort(foundation, launches, options);
  app.addHook('onClose', () => parameters.close());
}

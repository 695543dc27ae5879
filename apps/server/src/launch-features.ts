import type { Compiler } from './compile/compiler.ts';
import { byOneServer } from './db/locks.ts';
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
import { createPayloadStore } from './launches/payload-store.ts';
import { RunDelivery } from './launches/run-delivery.ts';
import { PlacesInMemory, StoredPlaces } from './launches/run-places.ts';
import { createLaunchStore, type LaunchStore } from './launches/store.ts';
import { periodically } from './periodically.ts';
import type { GetLaunchable } from './projects/project-files.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { RunStops } from './runs/run-stops.ts';

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
  { app, database, clock, faults }: Foundation,
  launches: LaunchStore,
  { historyDays, fleetFeatures }: LaunchOptions,
): void {
  const deleteLogs = (runIds: readonly string[]): Promise<void> => fleetFeatures.keptLogs.delete(runIds);
  const deleteOld = byOneServer(database, 'delete old launches', () =>
    deleteOldLaunches(launches, { clock, historyDays, deleteLogs }),
  );
  // At once too: a server that is restarted every day must not keep its history for ever.
  const deletedAtStart = deleteOld().catch((error: unknown) => {
    faults.report(error, 'old launches could not be deleted');
  });
  app.addHook('onClose', () => deletedAtStart);
  app.addHook('onClose', periodically(faults, hourMs, deleteOld));
}

/** What several servers send for each other. */
function openDelivery(
  { app, database, clock, faults }: Foundation,
  { placedRuns: placed, activeRuns, hosts, lifecycle }: FleetFeatures,
): RunDelivery | undefined {
  if (placed === undefined) return undefined;
  const payloads = createPayloadStore(database);
  const delivery = new RunDelivery({ placed, payloads, activeRuns, hosts, lifecycle, faults });
  app.addHook(
    'onClose',
    periodically(faults, hourMs, () => payloads.deleteOld(clock.now())),
  );
  app.addHook('onClose', () => delivery.close());
  return delivery;
}

/** Starting and stopping automations. */
export function openLaunchFeatures(foundation: Foundation, options: LaunchOptions): void {
  const { app, database, commits, audit, clock, limits } = foundation;
  const { compiler, getLaunchable, people, fleetFeatures, ackTimeoutMs } = options;
  const {
    devices,
    hosts,
    runs,
    runAccess,
    activeRuns,
    placedRuns: placed,
    runsOn,
    runsCreated,
  } = fleetFeatures;
  const launches = createLaunchStore(database, commits);
  const stops = new RunStops({ store: runs, activeRuns, hosts, placed, timeoutMs: ackTimeoutMs });
  const namesOf: NamesOf = async (deviceIds) => {
    const known = await devices.fleet.findAll(deviceIds);
    return (id) => nameOf(known.get(id) ?? { id, serial: '' });
  };
  const dispatcher = {
    ...{ launches, audit, activeRuns, hosts, stops, clock, ackTimeoutMs, onCreated: runsCreated },
    delivery: openDelivery(foundation, fleetFeatures),
    places: placed === undefined ? new PlacesInMemory(limits, activeRuns) : new StoredPlaces(limits, placed),
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
    stopper: { devices, runsOn, stops },
    runAccess,
    findRun: (runId) => runs.find(runId),
  });
  keepHistoryShort(foundation, launches, options);
  app.addHook('onClose', () => parameters.close());
}

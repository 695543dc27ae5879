import type { LaunchSecrets } from '@phalanx/protocol';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Compiler } from '../../code/compile/compiler.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { nameOf } from '../../fleet/devices/online-devices.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { GetLaunchable } from '../../code/projects/project-files.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { Runs } from '../runs/feature.ts';
import { RunStops } from '../runs/run-stops.ts';
import { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import { Bundles } from './bundles.ts';
import { ParameterChecker } from './parameters/parameter-checker.ts';
import { createLaunchStore, type LaunchStore } from './store.ts';
import { createPayloadStore } from './payload-store.ts';
import { LaunchPreparation } from './launch-preparation.ts';
import type { NamesOf } from './launch-reply.ts';
import { Launches } from './launches.ts';
import { addLaunchRoutes } from './routes.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import { RunLimits } from './run-limits.ts';
import { RunOutbox } from './run-outbox.ts';
import { hourMs, dayMs } from '@phalanx/timing/durations';

interface LaunchDependencies {
  compiler: Compiler;
  parameters: ParameterChecker;
  getLaunchable: GetLaunchable;
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  grants: SecretGrants;
  people: ProjectPeople;
  hosts: Hosts;
  devices: DeviceAccess;
  runs: Runs;
}

function openOutbox(context: Context, { runs, hosts, grants }: LaunchDependencies): RunOutbox {
  const { app, database, clock, faults, timing } = context;
  const { activeRunRows, activeRuns, lifecycle } = runs;
  const payloads = createPayloadStore(database);
  const outbox = new RunOutbox({
    listToSend: activeRunRows.listToSend,
    payloads,
    activeRuns,
    hosts: hosts.connected,
    lifecycle,
    grants,
    faults,
    ackTimeoutMs: timing.ackTimeoutMs,
  });
  app.addHook('onClose', () => outbox.close());
  addBackgroundJob(context, {
    name: 'delete old payloads of launches',
    everyMs: hourMs,
    work: () => payloads.deleteOld(clock.now()),
  });
  return outbox;
}

/** Starts automations for other features. */
export interface LaunchService {
  readonly launches: Launches;
  readonly preparation: LaunchPreparation;
}

/** Serves the routes that start and stop automations, and deletes old launches. */
export function serveLaunches(context: Context, dependencies: LaunchDependencies): LaunchService {
  const { app, config, database, commits, audit, clock, limits, timing } = context;
  const { compiler, parameters, getLaunchable, secretsOf, grants, people, devices, runs } = dependencies;
  const { activeRuns, activeRunRows } = runs;
  const { ackTimeoutMs } = timing;
  const hosts = dependencies.hosts.connected;
  const store = createLaunchStore(database, commits);
  const stops = new RunStops({
    store: runs.store,
    activeRunRows,
    activeRuns,
    hosts,
    timeoutMs: ackTimeoutMs,
  });
  const namesOf: NamesOf = async (deviceIds) => {
    const known = await devices.fleet.findAll(deviceIds);
    return (id) => nameOf(known.get(id) ?? { id, serial: '' });
  };
  const matchers = new ProjectMatchers();
  const phones = { access: devices, activeRunRows, grants };
  const preparation = new LaunchPreparation({
    bundles: new Bundles(compiler),
    parameters,
    matchers,
    secretsOf,
  });
  const launches = new Launches({
    preparation,
    getLaunchable,
    phones,
    grants,
    matchers,
    commits,
    launches: store,
    runLimits: new RunLimits(limits, activeRunRows),
    audit,
    activeRuns,
    hosts,
    outbox: openOutbox(context, dependencies),
    stops,
    turns: limits.turns.launches,
    clock,
    onCreated: runs.created,
    ackTimeoutMs,
    namesOf,
  });
  addLaunchRoutes(app, {
    launches,
    getLaunchable,
    people,
    stopper: { devices, activeRunRows, stops },
    phones,
    runAccess: runs.access,
    findRun: (runId) => runs.store.find(runId),
  });
  addBackgroundJob(context, {
    name: 'delete old launches',
    everyMs: hourMs,
    atStart: true,
    work: () => deleteOldLaunches(store, { clock, historyDays: config.historyDays }),
  });
  return { launches, preparation };
}

/** Opens the checker that validates parameters against their schema in separate processes. */
export function openParameterChecker({ app, confinement, limits }: Context): ParameterChecker {
  const checker = new ParameterChecker({ turns: limits.turns.parameters, confinement });
  app.addHook('onClose', () => checker.close());
  return checker;
}

/** Number of launches deleted per batch. Batches are small, so that requests get the event loop between them. */
const launchesPerStep = 50;

/** Deletes launches that are older than `historyDays` and have no active run, together with their runs. */
export async function deleteOldLaunches(
  store: LaunchStore,
  { clock, historyDays }: HistoryLimits,
): Promise<void> {
  const limit = clock.now() - historyDays * dayMs;
  for (let old = await store.listEndedBefore(limit, launchesPerStep); old.length > 0;) {
    await store.delete(old);
    await nextTurn();
    old = await store.listEndedBefore(limit, launchesPerStep);
  }
}

interface HistoryLimits {
  clock: Clock;
  historyDays: number;
}

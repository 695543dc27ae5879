import { dataDir as dataDirSetting, explainFolder } from '@phalanx/settings';
import { serveAccess } from './http/access/feature.ts';
import { ensureAdministrator, replaceHostToken } from './http/access/first-start.ts';
import { limitPhones } from './fleet/devices/phone-reach.ts';
import type { OwnedResources } from './http/access/user-routes.ts';
import { serveActs } from './control/acts/feature.ts';
import { serveAudit } from './http/audit/feature.ts';
import { addCommitRoutes } from './code/commits/routes.ts';
import { openCompiler } from './code/compile/feature.ts';
import { requireTypeScript } from './code/compile/require-typescript.ts';
import type { ServerConfig } from './config.ts';
import { addConsoleRoutes } from './operations/console/routes.ts';
import type { Compiler } from './code/compile/compiler.ts';
import { type Context, type ContextOverrides, createContext } from './http/context.ts';
import { withClusterLock } from './storage/db/transactions.ts';
import type { DeviceAccess } from './fleet/devices/device-access.ts';
import { openDevices, serveDevices } from './fleet/devices/feature.ts';
import { openEvents } from './runs/events/feature.ts';
import { addFileRoutes } from './code/files/routes.ts';
import { addGitRoutes } from './code/git-http/routes.ts';
import { openHealth } from './http/health/feature.ts';
import { serveHelp } from './operations/help/feature.ts';
import { type Hosts, openHosts } from './fleet/hosts/feature.ts';
import { consoleUrl, urlOf } from './http/requests/addresses.ts';
import { explainListenError } from './http/requests/listen-error.ts';
import { watchMethods } from './http/requests/kernel.ts';
import { serveDescription } from './http/requests/openapi.ts';
import { serveJobs } from './work/jobs/feature.ts';
import { openParameterChecker, serveLaunches } from './runs/launches/feature.ts';
import { serveLive } from './control/live/feature.ts';
import { openLogs } from './runs/logs/feature.ts';
import { serveMcp } from './operations/mcp/feature.ts';
import { openPeople, openProjects, type Projects } from './code/projects/feature.ts';
import { openRecords, type Records } from './evidence/records/feature.ts';
import { serveProposals } from './evidence/records/proposals/feature.ts';
import { serveReplays } from './evidence/replays/feature.ts';
import { listGoldenTrees } from './evidence/replays/screens-of-set.ts';
import { noteSavedCode } from './evidence/replays/saved-code-store.ts';
import { serveFilms } from './runs/film/feature.ts';
import { serveRunFiles } from './runs/run-files/feature.ts';
import { openRuns, serveRuns } from './runs/runs/feature.ts';
import { openSecrets } from './code/secrets/feature.ts';
import { serveSchedules } from './work/schedules/feature.ts';
import { serveShares } from './code/shares/feature.ts';
import { serveStats } from './runs/stats/feature.ts';
import { sealedByWebhooks, serveWebhooks } from './work/webhooks/feature.ts';

/** Options that a test may set otherwise; the defaults are the product's. */
export interface ServerOverrides extends ContextOverrides {
  /** Compiler that other servers use too, and that is not closed with this one. Default: the server's own. */
  compiler?: Compiler;
  /** The folder of the built console; without it there is none. */
  console?: Promise<string>;
}

export interface ServerApp {
  /** Example: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The administrator's first token, when this start made it: show it once. */
  readonly firstToken: string | undefined;
  /** A token for a host on this machine, for the administrator's phones; it replaces the one of the last start. */
  createHostToken(name: string): Promise<string>;
  /** An address that signs a browser in as the administrator, once, within the hour. */
  createSignInLink(): Promise<string>;
  /** Rejects with a `SettingError` when this server may not go on, because another one has its database. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

const version = '0.1.0';

/** Maximum time of a drain, in ms: longer than a launch or a stop takes. */
const maxDrainMs = 15_000;

/**
 * The features. `open…` creates what other features use, `serve…` adds the rest. What hosts say reaches them in this
 * order: runs before devices, because a device that is ready must not seem free while a run of it is still unheard of.
 */
async function openFeatures(context: Context, hosts: Hosts, overrides: ServerOverrides): Promise<void> {
  const { app, audit, clock, confinement, limits, log, addressOf } = context;
  const { authenticate } = context.authenticator;
  const methods = watchMethods(app);

  const connectPhoneLimits = limitPhones(app);
  serveAudit(context);
  const people = openPeople(context);
  const devices = await openDevices(context, { hosts });
  const runs = await openRuns(context, { hosts, devices, people });
  connectPhoneLimits({ devices, findRun: runs.store.find });
  const screens = serveDevices(context, { devices, hosts, runs });
  const metrics = openHealth(context, {
    hosts: () => hosts.gateway.size,
    isClosed: () => hosts.gateway.isClosed,
    activeRuns: () => runs.activeRuns.size,
    devices: () => devices.fleet.countByState(),
    warnings: () => devices.fleet.countWarnings(),
  });
  serveStats(context, { devices, runs, metrics });
  const logs = await openLogs(context, { hosts, devices, runs, metrics });
  const events = openEvents(context, { devices, runs, logs });
  const { feed } = events;
  serveLive(context, { devices, hosts, events });
  const records = await openRecords(context, { hosts, devices, runs, feed, metrics });
  serveRuns(context, runs, records.recordsOfRun);
  const captureDependencies = { runs, captures: records.captures, figures: metrics.records };
  await serveRunFiles(context, captureDependencies);
  await serveFilms(context, captureDependencies);

  const compiler = await openCompiler(context, overrides.compiler);
  const parameters = openParameterChecker(context);
  const onDeleted = (projectId: string): Promise<void> => records.projectDeleted(projectId);
  const projects = await openProjects(context, {
    compiler,
    parameters,
    onDeleted,
    onSaved: noteSavedCode,
  });
  const solving = records.serveGroups(projects);
  serveProposals(context, { captures: records.captures, compiler, projects });
  records.serveDrift((project) => listGoldenTrees(projects.services.repositories, project, limits));
  const { access, services: projectServices, getLaunchable } = projects;
  await addFileRoutes(app, { access, projectServices, confinement, limits });
  addCommitRoutes(app, { access, projectServices, clock, limits, solving });
  await addGitRoutes(app, { authenticate, addressOf, limits, access, projectServices, solving, audit, log });
  const nameOf = (userId: string): string => devices.shares.nameOf(userId);
  const secrets = openSecrets(context, { access, nameOf }, [sealedByWebhooks(context)]);
  const { sealing, secretsOf, grants } = secrets;
  serveShares(context, { devices, projects });
  serveActs(context, { devices, hosts, runs, screens, projects, grants });
  const launching = serveLaunches(context, {
    compiler,
    parameters,
    getLaunchable,
    secretsOf,
    grants,
    people,
    hosts,
    devices,
    runs,
  });
  const { preparation } = launching;
  serveReplays(context, { hosts, preparation, projects, records, runs, feed });
  const jobs = await serveJobs(context, { hosts, devices, runs, projects, launching, grants, metrics });
  serveSchedules(context, { jobs, devices, projects, preparation, metrics });
  serveWebhooks(context, { devices, hosts, people, records, runs, sealing, metrics });

  serveAccess(context, {
    ownedResources: ownedResources({ devices, projects, records }),
    onNamed: (userId, name) => devices.shares.noteName(userId, name),
  });
  const pages = await serveHelp(context);
  if (overrides.console !== undefined) addConsoleRoutes(app, overrides.console, log);
  serveMcp(context, { version, pages });
  await serveDescription(app, version);
  methods.refuseOthers();
}

interface Owning {
  devices: DeviceAccess;
  projects: Projects;
  records: Records;
}

const ownedResources = ({ devices, projects, records }: Owning): OwnedResources => ({
  listProjects: (userId) => projects.listOwned(userId),
  remove: async (userId) => {
    for (const id of await projects.listOwned(userId)) await projects.deleteProject(id);
    await devices.fleet.deleteOwned(userId);
    await records.deleteOwner(userId);
  },
  forget: (userId) => devices.shares.forgetUser(userId),
});

/** Starts the service. Throws a `SettingError` when its data folder, its address or a program can't be used. */
export async function startServer(config: ServerConfig, overrides: ServerOverrides = {}): Promise<ServerApp> {
  try {
    requireTypeScript();
    return await start(config, overrides);
  } catch (error) {
    throw explainFolder(error, { setting: dataDirSetting.name, folder: config.dataDir });
  }
}

/** In a cluster, this server answers callers until its hosts have moved to other servers and no caller waits. */
async function drain({ node, limits, faults }: Context, { gateway }: Hosts): Promise<void> {
  try {
    if ((await node.listOthers()).length === 0) return;
    await gateway.moveAway();
    await limits.requestsUnderWay.whenNone(maxDrainMs);
  } catch (error) {
    faults.report(error, 'hosts could not be moved to other servers at shutdown');
  }
}

async function start(config: ServerConfig, overrides: ServerOverrides): Promise<ServerApp> {
  const context = await createContext(config, overrides);
  const { app, access, audit, clock, database, lock } = context;
  const administration = { store: access.store, clock, auditEvents: audit };
  const firstToken = await withClusterLock(database, 'first start', () =>
    ensureAdministrator(administration, config.adminToken),
  );
  const hosts = openHosts(context);
  try {
    await openFeatures(context, hosts, overrides);
    await app.listen({ ...config.listen });
  } catch (error) {
    await app.close();
    throw explainListenError(error, config.listen);
  }
  return {
    url: urlOf(app.server.address()),
    firstToken,
    createHostToken: (name) => replaceHostToken(administration, name),
    createSignInLink: async () => `${consoleUrl(config, app)}/sign-in#link=${await access.links.create()}`,
    ended: lock?.taken ?? new Promise<never>(() => undefined),
    close: async () => {
      await drain(context, hosts);
      await app.close();
    },
  };
}

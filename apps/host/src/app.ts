import { ApiClient } from '@phalanx/client/api-client';
import { type Confinement, openConfinement } from '@phalanx/confinement';
import { hostProtocolVersion } from '@phalanx/protocol';
import {
  dataDir as dataDirSetting,
  explainFolder,
  prepareFolder,
  programLog,
  SettingError,
} from '@phalanx/settings';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { HostConfig } from './config.ts';
import { ServerConnection } from './connection/server-connection.ts';
import type { ServerCommand } from './connection/session.ts';
import { createServiceClock } from './connection/service-clock.ts';
import type { LogLimits } from './logs/log-limits.ts';
import { LogSpool } from './logs/log-spool.ts';
import { Pairings } from './adb/pairings.ts';
import { DeviceReporter } from './phones/device-reporter.ts';
import { findScrcpyServer } from './driver/video/scrcpy-file.ts';
import { DefaultSettings, loadDefaultSettings } from './driver/settings/default-settings.ts';
import { loadPins } from './phones/phone-pins.ts';
import { answerQuestion } from './phones/requests/answer-question.ts';
import { type PhoneWatch, watchPhones } from './phones/watch-phones.ts';
import { defaultRecordLimits, type RecordLimits } from './records/record-limits.ts';
import { RecordSender } from './records/outgoing/record-sender.ts';
import { RunFileSender } from './runs/files/run-file-sender.ts';
import { RunOutbox } from './runs/run-outbox.ts';
import { RunLauncher } from './runs/run-launcher.ts';
import { createSandboxPool, type SandboxPool } from './sandbox/index.ts';
import { ReplayAnswerer } from './sandbox/replay/replays.ts';
import { loadHostId } from './store/host-id.ts';
import { type HostStore, openHostStore } from './store/host-store.ts';
import { type HostTimings, hostTimings } from './time/host-timings.ts';

/** Overrides for a test, or for a process that runs the host beside other services. */
export interface HostOverrides {
  /** Default: JSON lines on standard output. */
  log?: Logger;
  logLimits?: Partial<LogLimits>;
  recordLimits?: Partial<RecordLimits>;
  /** Default: the confinement that this machine offers. */
  confinement?: Confinement;
  /** Default `hostTimings`. */
  timings?: Partial<HostTimings>;
  /** Sandbox pool shared with other hosts; the host does not close it. Default: the host's own pool. */
  sandboxes?: SandboxPool;
}

export interface HostApp {
  readonly hostId: string;
  /** Describes for the operator how the operating system confines user code, in full sentences. */
  readonly protection: string;
  /** Resolves when the server has welcomed this host for the first time. */
  readonly connected: Promise<void>;
  /** Ends all runs, reports them to the server, and releases the phones. */
  close(): Promise<void>;
}

/**
 * Rejects with a `SettingError` when the data folder is unusable or when this machine can't start sandboxes. Resolves
 * once the search for phones has begun and the first connection to the server is being opened.
 */
export async function startHost(config: HostConfig, overrides: HostOverrides = {}): Promise<HostApp> {
  const { log = pino({ name: 'phalanx-host', level: config.logLevel }, programLog(config)) } = overrides;
  const dir = join(config.dataDir, 'host');
  const opened = new AsyncDisposableStack();
  try {
    // Prepares this folder separately, so that a failure is reported for this folder.
    await prepareFolder(config.dataDir).catch((error: unknown) => {
      throw explainDataFolder(error, config.dataDir);
    });
    await prepareFolder(dir);
    opened.defer(await lockFolder(dir));
    const hostId = await loadHostId(dir);
    const store = await openHostStore({ dir, log });
    opened.defer(() => store.close());
    const confinement = overrides.confinement ?? (await openConfinement());
    logConfinement(confinement, config, log);
    const pool = overrides.sandboxes ?? (await openPool(config, confinement, log));
    if (overrides.sandboxes === undefined) opened.defer(() => pool.close());
    const timings = { ...hostTimings, ...overrides.timings };
    const pins = config.pinsFile === undefined ? undefined : await loadPins(config.pinsFile);
    const { phoneSettingsFile: file } = config;
    const defaults = file === undefined ? new DefaultSettings() : await loadDefaultSettings(file);
    const phones = watchPhones({
      adbServer: config.adbServer,
      addresses: config.phones,
      dataDir: dir,
      store,
      log,
      rules: {
        minBatteryPercent: config.minBattery,
        maxTemperatureCelsius: config.maxTemperature,
        trimBelowPercent: config.trimCaches,
      },
      mayReboot: config.rebootPhones,
      helper: config.helper,
      timings,
      pins,
      scrcpy: await findScrcpyServer(config.scrcpyServer, config.installedScrcpy),
    });
    opened.defer(() => phones.close());
    const { close, connected } = await connect({
      config,
      overrides,
      dir,
      store,
      hostId,
      log,
      pool,
      confinement,
      phones,
      defaults,
      timings,
    });
    opened.defer(close);
    return { hostId, protection: confinement.description, connected, close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw explainDataFolder(error, dir);
  }
}

const explainDataFolder = (error: unknown, folder: string): unknown =>
  explainFolder(error, { setting: dataDirSetting.name, folder });

interface Parts {
  config: HostConfig;
  overrides: HostOverrides;
  dir: string;
  store: HostStore;
  hostId: string;
  log: Logger;
  pool: SandboxPool;
  confinement: Confinement;
  phones: PhoneWatch;
  defaults: DefaultSettings;
  timings: HostTimings;
}

function openPool(config: HostConfig, confinement: Confinement, log: Logger): Promise<SandboxPool> {
  return createSandboxPool({
    size: config.warmSandboxes,
    memoryMb: config.runMemoryMb,
    fetchPolicy: { allowPrivateAddresses: config.allowPrivateFetch },
    confinement,
    log,
  });
}

/** Logs at every start what confines user code and what does not, so that the operator sees it. */
function logConfinement({ holds, description }: Confinement, config: HostConfig, log: Logger): void {
  if (!holds && config.requireConfinement) {
    throw new SettingError(`PHALANX_REQUIRE_CONFINEMENT is true, but: ${description}`);
  }
  if (holds) log.info(description);
  else log.warn(description);
}

/** Connects runs, logs and phones to the server. Returns a function that shuts them all down. */
async function connect({
  config,
  overrides,
  dir,
  store,
  hostId,
  log,
  pool,
  confinement,
  phones,
  defaults,
  timings,
}: Parts): Promise<{ close: () => Promise<void>; connected: Promise<void> }> {
  const { serverUrl, token, hostName } = config;
  const { logLimits: limits = {}, recordLimits = {} } = overrides;
  const { refusedRetryMs, farewellMs } = timings;
  const clock = createServiceClock();
  const connection = new ServerConnection({ serverUrl, token, clock, log, refusedRetryMs });
  const server = new ApiClient({ url: serverUrl.href, token, retryForMs: 0 });
  const spool = new LogSpool({ store, connection, clock, log, limits });
  const sending = { limits: { ...defaultRecordLimits, ...recordLimits }, server, connection, store, log };
  const maxRunBytes = config.runFilesMb * 1_000_000;
  const files = new RunFileSender({ ...sending, dir: join(dir, 'files'), maxRunBytes });
  const outbox = new RunOutbox({ store, spool, files, connection, clock, timings, log });
  const records = new RecordSender({ ...sending, dir: join(dir, 'records'), phones, clock });
  const launcher = new RunLauncher({
    outbox,
    records,
    files,
    spool,
    phones,
    pool,
    log,
    server,
    clock,
    defaults,
    maxFilmBytes: config.runFilmMb * 1_000_000,
    filmsAll: config.runFilm === 'always',
    pictureLimits: sending.limits,
    timings,
    limits: runLimits(config),
    phoneGraceMs: config.phoneGraceSeconds * 1000,
    permissions: { changeApps: config.allowAppChanges, shell: config.allowShell, messages: config.allowSms },
  });
  const devices = new DeviceReporter(phones, connection, clock);
  const pairings = new Pairings({ adbServer: config.adbServer, log });
  const replays = new ReplayAnswerer({ connection, confinement, processes: config.replayProcesses, log });

  const mayChangeApps = config.allowAppChanges;
  const onCommand = (command: ServerCommand): void => {
    if (command.type === 'launch') launcher.launch(command);
    else if (command.type === 'begin') outbox.permit(command.runs);
    else if (command.type === 'stop') launcher.stop(command.run_ids);
    else if (command.type === 'logs_stored') spool.acknowledge(command.run_id, command.seq);
    else if (command.type === 'runs_stored') outbox.endsStored(command.run_ids);
    else if (command.type === 'record_stored') records.stored(command.record_id, command.missing);
    else if (command.type === 'replay') replays.answer(command);
    else if (command.type === 'pairing') pairings.answer(command, connection);
    else void answerQuestion(command, { phones, connection, clock, mayChangeApps, log });
  };
  const connected = new Promise<void>((resolve) => connection.onOnline(resolve));
  connection.onOnline(() => {
    for (const phone of phones.phones()) phone.uses.forget();
  });
  await files.recover();
  await outbox.recover();
  await records.recover();
  connection.start({
    hello: () => {
      launcher.forgetBundles();
      return {
        type: 'hello',
        protocol_version: hostProtocolVersion,
        host_id: hostId,
        host_name: hostName,
        devices: devices.all(),
        runs: outbox.reports(),
        replays: replays.isWilling,
      };
    },
    listReady: (sinceMs) => devices.listReady(sinceMs),
    problem: () => phones.problem,
    onCommand,
  });

  const close = async (): Promise<void> => {
    await launcher.close();
    if (connection.online) await settledWithin(outbox.whenEmpty(), farewellMs);
    devices.close();
    pairings.close();
    await Promise.all([records.close(), files.close()]);
    await connection.close();
    outbox.close();
    await spool.close();
  };
  return { close, connected };
}

function runLimits({ runMemoryMb, runCpuSeconds, runTimeLimitSeconds }: HostConfig) {
  return { memoryMb: runMemoryMb, cpuMs: runCpuSeconds * 1000, durationMs: runTimeLimitSeconds * 1000 };
}

async function settledWithin(work: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}

/**
 * Locks the folder against a second host: each of the two would treat the other's runs as orphaned. The lock is a name
 * in the kernel (an abstract socket on Linux, a named pipe on Windows) that disappears with the process, so a killed
 * host leaves no stale lock. Other systems have no such names and therefore no lock. Returns the unlock function.
 */
async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const path = lockName(await realpath(dir));
  if (path === undefined) return async () => {};
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ path });
    await once(server, 'listening');
  } catch (cause) {
    throw new SettingError(
      `The folder ${dir} is in use by another host program. Stop that one, or set PHALANX_DATA_DIR.`,
      { cause },
    );
  }
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

function lockName(dir: string): string | undefined {
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 32);
  if (process.platform === 'linux') return `\0phalanx-host-${hash}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\phalanx-host-${hash}`;
  return undefined;
}

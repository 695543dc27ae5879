import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { until } from '@phalanx/host/testing/until';
import { deviceRoutes, isEnded, launchRoutes, logRoutes, recordRoutes, runRoutes } from '@phalanx/protocol';
import type { Device, LogEntry, OutOfStepsRecord, Run } from '@phalanx/protocol';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';

import { Cable } from './cable.ts';
import { Program, startLimitMs } from './program.ts';

const adminToken = `admin-${randomUUID()}-${randomUUID()}`;

/** Existing phones, and how the host finds them. */
export interface GivenPhones {
  readonly phones: readonly SimulatedPhone[];
  readonly hostSettings: Readonly<Record<string, string>>;
}

async function startPhones(count: number): Promise<GivenPhones> {
  const serials = Array.from({ length: count }, (_, index) => `TEST${index + 1}`);
  const phones = await Promise.all(serials.map((serial) => startSimulatedPhone({ serial })));
  const addresses = phones.map((phone) => `${phone.host}:${phone.port}`).join(',');
  return { phones, hostSettings: { PHALANX_PHONES: addresses, PHALANX_ADB_SERVER: 'off' } };
}

/** Server, host and phones as separate processes, with a cable between server and host that can be cut. */
export class Installation {
  readonly api: ApiClient;
  readonly phones: readonly SimulatedPhone[];
  readonly cable: Cable;
  readonly folder: string;
  readonly #listen: string;
  readonly #serverFolder: string;
  readonly #hostSettings: Readonly<Record<string, string>>;
  readonly #serverSettings: Readonly<Record<string, string>>;
  server: Program;
  host: Program;

  private constructor(parts: {
    folder: string;
    serverFolder: string;
    listen: string;
    given: GivenPhones;
    cable: Cable;
    serverSettings: Readonly<Record<string, string>>;
  }) {
    this.folder = parts.folder;
    this.#listen = parts.listen;
    this.#serverFolder = parts.serverFolder;
    this.phones = parts.given.phones;
    this.#hostSettings = parts.given.hostSettings;
    this.#serverSettings = parts.serverSettings;
    this.cable = parts.cable;
    this.api = new ApiClient({ url: `http://${parts.listen}`, token: adminToken, retryForMs: 0 });
    this.server = this.#spawnServer();
    this.host = this.#spawnHost();
  }

  /** Settings for a `phalanx` command that calls the server. */
  get callerSettings(): Record<string, string> {
    return { PHALANX_SERVER_URL: `http://${this.#listen}`, PHALANX_TOKEN: adminToken, HOME: this.folder };
  }

  /** Starts an installation. Resolves when every phone is ready. */
  static async start(
    wanted: number | GivenPhones,
    serverFolder?: string,
    serverSettings: Readonly<Record<string, string>> = {},
  ): Promise<Installation> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-test-'));
    const listen = `127.0.0.1:${await freePort()}`;
    const given = typeof wanted === 'number' ? await startPhones(wanted) : wanted;
    const cable = await Cable.to(`http://${listen}`);
    const installation = new Installation({
      folder,
      listen,
      given,
      cable,
      serverSettings,
      serverFolder: serverFolder ?? path.join(folder, 'server'),
    });
    await installation.server.printed(/Phalanx server is at/);
    await installation.readyDevices();
    return installation;
  }

  async stop(): Promise<void> {
    await Promise.all([this.host.end(), this.server.end()]);
    this.cable.close();
    await Promise.all(this.phones.map((phone) => phone.stop()));
    await rm(this.folder, { recursive: true, force: true });
  }

  async restartServer(): Promise<void> {
    this.server = this.#spawnServer();
    await this.server.printed(/Phalanx server is at/);
  }

  restartHost(): void {
    this.host = this.#spawnHost();
  }

  get url(): string {
    return `http://${this.#listen}`;
  }

  async listDevices(): Promise<Device[]> {
    return (await this.api.call(deviceRoutes.list)).devices;
  }

  /** Returns the devices once all of them are ready or busy. */
  async readyDevices(): Promise<Device[]> {
    const listDevices = async (): Promise<Device[]> => {
      if (this.host.hasExited) throw new Error(`the host has ended:\n${this.host.output}`);
      return (await this.api.call(deviceRoutes.list)).devices;
    };
    const isReady = ({ state }: Device): boolean => state === 'ready' || state === 'busy';
    const devices = await until(
      `${this.phones.length} ready devices`,
      listDevices,
      (now) => now.filter(isReady).length === this.phones.length,
      startLimitMs,
    );
    return devices.filter(isReady);
  }

  /**
   * Launches code. Returns the launch ID. On a busy machine, loading the code may exceed the time limit of a launch,
   * which is then retried.
   */
  async launch(deviceId: string, code: string, tries = 3): Promise<string> {
    const launchId = randomUUID();
    try {
      await this.api.call(launchRoutes.launchDirect, {
        body: { device_id: deviceId, launch_id: launchId, command: 'start', code },
      });
      return launchId;
    } catch (error) {
      if (tries === 1 || !(error instanceof ServiceError) || error.code !== 'launch_not_acknowledged')
        throw error;
      return this.launch(deviceId, code, tries - 1);
    }
  }

  async findRun(launchId: string): Promise<Run | undefined> {
    return (await this.api.call(runRoutes.list, { query: { automation_id: launchId } })).runs[0];
  }

  async endedRun(launchId: string): Promise<Run> {
    const run = await until(
      `the end of launch ${launchId}`,
      () => this.findRun(launchId),
      (now) => now !== undefined && isEnded(now.status),
    );
    if (run === undefined) throw new Error(`There is no run of launch ${launchId}.`);
    return run;
  }

  /** Returns the newest record of the automation. */
  async findRecord(automationId: string): Promise<OutOfStepsRecord | null> {
    const { result } = await this.api.call(recordRoutes.list, { query: { automation_id: automationId } });
    return result;
  }

  /** Returns the newest record once all of its captures are stored. */
  async wholeRecord(automationId: string, limitMs?: number): Promise<OutOfStepsRecord> {
    const record = await until(
      `the whole record of ${automationId}`,
      () => this.findRecord(automationId),
      (now) => now?.partial === false,
      limitMs,
    );
    if (record === null) throw new Error(`There is no record of ${automationId}.`);
    return record;
  }

  /** Reads one page of entries after `from`. */
  async readLogs(deviceId: string, launchId: string, from?: string): Promise<LogEntry[]> {
    const body = { device_id: deviceId, automation_ids: [launchId], ...(from === undefined ? {} : { from }) };
    return (await this.api.call(logRoutes.read, { body })).logs;
  }

  #spawnServer(): Program {
    return new Program(['server'], {
      PHALANX_LISTEN: this.#listen,
      PHALANX_DATA_DIR: this.#serverFolder,
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'warn',
      ...this.#serverSettings,
    });
  }

  #spawnHost(): Program {
    return new Program(['host'], {
      PHALANX_SERVER_URL: this.cable.url,
      PHALANX_TOKEN: adminToken,
      PHALANX_DATA_DIR: path.join(this.folder, 'host'),
      PHALANX_LOG_LEVEL: 'warn',
      ...this.#hostSettings,
    });
  }
}

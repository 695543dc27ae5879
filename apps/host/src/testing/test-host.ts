import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { PhoneSettings, ScreenMask } from '@phalanx/protocol';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import { pino } from 'pino';
import { afterEach, beforeEach, expect } from 'vitest';

import { type HostApp, type HostOverrides, startHost } from '../app.ts';
import { parseHostConfig } from '../config.ts';
import { helperPackages } from '../driver/uiautomator2/start-helper.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { readHostRows } from './host-rows.ts';
import { launchOf } from './launch-of.ts';
import { prepareHostKey } from './prepare-host-key.ts';
import { openSharedPool } from './shared-pool.ts';
import { startTestService, TestService } from './test-service.ts';

/** Serial number of the simulated phone. */
export const serial = 'simulated-1';
/** Timeouts of pictures for a busy machine. */
const patient: Partial<RecordLimits> = { pictureMs: 60_000, settleMs: 60_000, lastLookMs: 60_000 };

/** Timeouts within which a busy machine starts a sandbox. */
const busy: Partial<HostTimings> = { refusedRetryMs: 50, runStartMs: 60_000 };

/** Host with a real sandbox, a simulated phone and a test service, fresh for each test. */
export class TestHost {
  readonly #defaults: HostOverrides;
  service = new TestService();
  #phone: SimulatedPhone | undefined;
  #app: HostApp | undefined;
  dataDir = '';

  /** `defaults` are the overrides of each start of the host. */
  constructor(defaults: HostOverrides = {}) {
    this.#defaults = defaults;
  }

  async setUp(): Promise<void> {
    this.dataDir = await mkdtemp(join(tmpdir(), 'phalanx-host-'));
    await prepareHostKey(join(this.dataDir, 'host'));
    this.service = await startTestService();
    // The helper is preinstalled: installing its 18 MB is covered by the driver's own tests.
    this.#phone = await startSimulatedPhone({
      serial,
      timeOfDay: '09:41',
      installedPackages: helperPackages,
    });
    await this.reopen();
  }

  async tearDown(): Promise<void> {
    await this.stop();
    await this.#phone?.stop();
    await this.service.close();
    await rm(this.dataDir, { recursive: true });
    expect(this.service.violations).toEqual([]);
  }

  get phone(): SimulatedPhone {
    if (this.#phone === undefined) throw new Error('There is a phone only while a test runs');
    return this.#phone;
  }

  get hostId(): string {
    return this.#app?.hostId ?? '';
  }

  /** Starts a new process of the host on the same data. */
  async open(settings: Record<string, string> = {}, overrides: HostOverrides = {}): Promise<void> {
    const config = parseHostConfig({
      PHALANX_SERVER_URL: this.service.url,
      PHALANX_TOKEN: this.service.token,
      PHALANX_DATA_DIR: this.dataDir,
      PHALANX_ADB_SERVER: 'off',
      PHALANX_PHONES: `${this.phone.host}:${this.phone.port}`,
      ...settings,
    });
    const log = pino({ level: process.env['PHALANX_TEST_LOG'] ?? 'silent' });
    // Tests with their own confinement test the confined processes.
    const sandboxes =
      overrides.confinement === undefined ? { sandboxes: await openSharedPool(config.runMemoryMb) } : {};
    this.#app = await startHost(config, {
      log,
      ...sandboxes,
      ...this.#defaults,
      ...overrides,
      timings: { ...busy, ...this.#defaults.timings, ...overrides.timings },
      recordLimits: { ...patient, ...this.#defaults.recordLimits, ...overrides.recordLimits },
    });
  }

  /** Opens the host again, as `open` does. Resolves when the host is connected and its phone is ready. */
  async reopen(
    settings: Record<string, string> = {},
    recordLimits: Partial<RecordLimits> = {},
    overrides: HostOverrides = {},
  ): Promise<void> {
    const before = this.service.connections;
    await this.open(settings, { ...overrides, recordLimits });
    await this.service.untilReady(serial, before);
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = undefined;
    await app?.close();
  }

  /** Launches code on the phone, and returns the run's ID. */
  launch(code: string, on = serial, masks: readonly ScreenMask[] = []): string {
    const runId = randomUUID();
    this.service.send(launchOf(code, [{ run_id: runId, device_id: 'device-1', serial: on }], masks));
    return runId;
  }

  /** Launches code on the phone with these phone settings. */
  launchWith(settings: PhoneSettings, code: string): string {
    const runId = randomUUID();
    const runs = [{ run_id: runId, device_id: 'device-1', serial }];
    this.service.send(launchOf(code, runs, [], settings));
    return runId;
  }

  /** Returns the states of a phone in order of arrival. */
  statesOf(phone: string): string[] {
    const reports = this.service.arrivals.flatMap((arrival) =>
      arrival.kind === 'hello' || arrival.kind === 'devices' ? arrival.devices : [],
    );
    return reports.filter((report) => report.serial === phone).map(({ state }) => state);
  }

  lastStateOf(phone: string): string | undefined {
    return this.statesOf(phone).at(-1);
  }

  /** Returns the keys of a table of the host. */
  keysOf(table: Parameters<typeof readHostRows>[1]): string[] {
    return readHostRows(this.dataDir, table).map(({ key }) => key);
  }

  /** Returns the names of files in the host's folder `records` or `files`. */
  filesOf(folder: string): Promise<string[]> {
    return readdir(this.pathOf(folder));
  }

  pathOf(folder: string): string {
    return join(this.dataDir, 'host', folder);
  }
}

export function useTestHost(defaults?: HostOverrides): TestHost {
  const host = new TestHost(defaults);
  beforeEach(() => host.setUp());
  afterEach(() => host.tearDown());
  return host;
}

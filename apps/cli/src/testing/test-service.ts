import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApiClient } from '@phalanx/client/api-client';
import { deviceRoutes } from '@phalanx/protocol';

import { clientFor } from '../connection/client-for.ts';
import { startService, type Service } from '../service.ts';
import { CliProcess, runCli, type CliOptions, type CliResult } from './cli-process.ts';
import { until } from '@phalanx/host/testing/until';

export const adminToken = 'administrator-token-of-the-tests-0123456789';

/** Service in this process, with simulated phones SIM0001, SIM0002, …, and a folder for the commands to work in. */
export class TestService {
  readonly folder: string;
  readonly #service: Service;
  readonly api: ApiClient;

  private constructor(folder: string, service: Service) {
    this.folder = folder;
    this.#service = service;
    this.api = clientFor(service.server.url, adminToken);
  }

  /** Starts the service. Resolves when every phone is ready. */
  static async start(phones: number, more: Record<string, string> = {}): Promise<TestService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-cli-'));
    const settings = {
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: path.join(folder, 'data'),
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_ADB_SERVER: 'off',
      PHALANX_LOG_LEVEL: 'silent',
      ...more,
    };
    // Most suites compile nothing.
    const started = await startService(settings, phones, { prepareCompilerMs: undefined });
    const service = new TestService(folder, started);
    await service.#untilReady(phones);
    return service;
  }

  get url(): string {
    return this.#service.server.url;
  }

  get env(): Record<string, string> {
    return {
      PHALANX_SERVER_URL: this.url,
      PHALANX_TOKEN: adminToken,
      XDG_CONFIG_HOME: path.join(this.folder, 'config'),
    };
  }

  run(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    return runCli(args, this.#options(options));
  }

  spawn(args: readonly string[], options: CliOptions = {}): CliProcess {
    return new CliProcess(args, this.#options(options));
  }

  async stop(): Promise<void> {
    await this.#service.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #options({ env, ...options }: CliOptions): CliOptions {
    return { cwd: this.folder, ...options, env: { ...this.env, ...env } };
  }

  async #untilReady(phones: number): Promise<void> {
    await until(
      `${phones} ready phones`,
      async () => (await this.api.call(deviceRoutes.list)).devices,
      (devices) => devices.filter(({ state }) => state === 'ready').length === phones,
    );
  }
}

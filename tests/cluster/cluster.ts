import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';

import { type NatsEngine, startNats } from '../../apps/server/src/testing/engines/nats-engine.ts';
import { type PostgresEngine, startPostgres } from '../../apps/server/src/testing/engines/postgres-engine.ts';
import { makeTestBucket } from '../../apps/server/src/testing/engines/test-bucket.ts';
import { Cable } from '../support/cable.ts';
import { Program } from '../support/program.ts';

/** Time limit in ms of a server's start, which a repeated start on a busy machine may need. */
const startMs = 180_000;

/** One of the servers, at a fixed address. */
export interface ClusterServer {
  readonly url: string;
  /** Cables of only this server, to the shared engines. */
  readonly cables: readonly Cable[];
  /** Latency in ms added to its cables. */
  delayMs: number;
  program: Program;
  readonly spawn: () => Program;
}

/** Cluster of three servers in separate processes, on its own engines. */
export class Cluster {
  readonly token = `admin-${randomUUID()}-${randomUUID()}`;
  readonly servers: ClusterServer[] = [];
  readonly postgres: PostgresEngine;
  readonly nats: NatsEngine;
  /** Cable to the S3 server. */
  readonly s3: Cable;
  readonly #folder: string;
  readonly #programs: Program[] = [];

  private constructor(folder: string, postgres: PostgresEngine, nats: NatsEngine, s3: Cable) {
    this.#folder = folder;
    this.postgres = postgres;
    this.nats = nats;
    this.s3 = s3;
  }

  static async start(count: number, settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const [postgres, nats, bucket] = await Promise.all([startPostgres(), startNats(), makeTestBucket()]);
    if (postgres === undefined || nats === undefined)
      throw new Error('PostgreSQL and NATS are not both installed: see the end of npm test');
    const s3 = await Cable.to(bucket.settings['PHALANX_S3_ENDPOINT'] ?? '');
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-cluster-'));
    const cluster = new Cluster(folder, postgres, nats, s3);
    const shared = { ...bucket.settings, PHALANX_S3_ENDPOINT: s3.url, ...settings };
    await cluster.#migrate();
    for (let no = 1; no <= count; no += 1) await cluster.#add(no, shared);
    await Promise.all(cluster.servers.map((server) => cluster.untilUp(server)));
    return cluster;
  }

  get urls(): string[] {
    return this.servers.map(({ url }) => url);
  }

  /** Returns log lines about requests whose callers were not told the cause. */
  explain(texts: readonly string[]): string[] {
    const ids = texts.flatMap((text) => text.match(/(?<=under request )[0-9a-f-]{36}/g) ?? []);
    const lines = this.#programs.flatMap(({ output }) => output.split('\n'));
    return lines.filter((line) => ids.some((id) => line.includes(id)));
  }

  async untilUp({ program }: ClusterServer): Promise<void> {
    await program.printed(/Phalanx server is at/, startMs);
  }

  /** Kills the server like a power failure, except that its disk keeps all data. */
  async kill(server: ClusterServer): Promise<void> {
    process.kill(server.program.pid ?? 0, 'SIGKILL');
    await server.program.exited;
  }

  /** Restarts the server repeatedly, like a service manager, because its database may be unavailable. */
  async restart(server: ClusterServer): Promise<void> {
    for (;;) {
      server.program = server.spawn();
      try {
        return await this.untilUp(server);
      } catch (error) {
        if (!/PostgreSQL|database/.test(server.program.output)) throw error;
      }
    }
  }

  /** Replaces the server like an upgrade: it shuts down, and another release starts at its address. */
  async replace(server: ClusterServer): Promise<void> {
    await server.program.end();
    await this.#migrate();
    await this.restart(server);
  }

  freeze(server: ClusterServer): void {
    process.kill(server.program.pid ?? 0, 'SIGSTOP');
  }

  thaw(server: ClusterServer): void {
    process.kill(server.program.pid ?? 0, 'SIGCONT');
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map(({ program }) => program.end()));
    await Promise.all([this.postgres.stop(), this.nats.stop()]);
    for (const cable of [this.s3, ...this.servers.flatMap(({ cables }) => cables)]) cable.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #migrate(): Promise<void> {
    const program = new Program(['migrate'], { PHALANX_DATABASE_URL: `${this.postgres.url}/postgres` });
    await program.printed(/The tables are up to date/);
    await program.exited;
  }

  async #add(no: number, settings: Readonly<Record<string, string>>): Promise<void> {
    const listen = `127.0.0.1:${await freePort()}`;
    const delayMs = (): number => server.delayMs;
    const toDatabase = await Cable.to(this.postgres.url, { delayMs });
    const toNats = await Cable.to(this.nats.url, { delayMs });
    const spawn = (): Program => {
      const program = new Program(['server'], {
        PHALANX_LISTEN: listen,
        PHALANX_DATA_DIR: path.join(this.#folder, `server-${no}`),
        PHALANX_ADMIN_TOKEN: this.token,
        PHALANX_LOG_LEVEL: 'warn',
        PHALANX_DATABASE_URL: toDatabase.through(`${this.postgres.url}/postgres`),
        PHALANX_NATS_URL: toNats.through(this.nats.url),
        PHALANX_NODE_NAME: `server-${no}`,
        PHALANX_PUBLIC_URL: `http://${listen}`,
        PHALANX_LOST_AFTER_SECONDS: '20',
        ...settings,
      });
      this.#programs.push(program);
      return program;
    };
    const cables = [toDatabase, toNats];
    const server: ClusterServer = { url: `http://${listen}`, cables, delayMs: 0, program: spawn(), spawn };
    this.servers.push(server);
  }
}

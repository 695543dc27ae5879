import { limitNames } from '@phalanx/protocol';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../kernel/limits/limits.ts';
import { faultParts, type Fault } from '../../kernel/faults/fault-monitor.ts';

export interface Figures {
  /** Hosts that are connected. */
  hosts: () => number;
  activeRuns: () => number;
  /** Devices by state. */
  devices: () => Promise<ReadonlyMap<string, number>>;
  /** Devices of this server's hosts by warning. */
  warnings: () => ReadonlyMap<string, number>;
  /** Connections of callers and hosts. */
  connections: () => number;
  /** Bytes of the data folder's disk that are free for this user. */
  freeBytes: () => Promise<number>;
  limits: Limits;
  /** Faults at present. */
  faults: () => readonly Fault[];
  /** Name of this server; empty without one. */
  node: string;
  /** Whether this server is connected to the other servers. */
  isBusConnected: () => boolean;
  /** Time since this server last read its cache invalidations, in ms. */
  invalidationsAgeMs: () => number;
}

/** Counters of out-of-steps records. */
export interface RecordFigures {
  stored: Counter<'type'>;
  deleted: Counter;
  captures: Counter<'kind'>;
  captureBytes: Counter;
}

export interface Metrics {
  registry: Registry;
  logEntries: Counter;
  records: RecordFigures;
}

function recordFigures(registers: Registry[]): RecordFigures {
  return {
    stored: new Counter({
      name: 'phalanx_records_stored_total',
      help: 'Out-of-steps records stored, by type',
      labelNames: ['type'],
      registers,
    }),
    deleted: new Counter({
      name: 'phalanx_records_deleted_total',
      help: 'Out-of-steps records deleted by retention or with their project',
      registers,
    }),
    captures: new Counter({
      name: 'phalanx_captures_stored_total',
      help: 'Captures stored, by kind',
      labelNames: ['kind'],
      registers,
    }),
    captureBytes: new Counter({
      name: 'phalanx_capture_bytes_stored_total',
      help: 'Bytes of captures stored',
      registers,
    }),
  };
}

function gauge(name: string, help: string, read: () => number | Promise<number>): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      this.set(await read());
    },
  });
}

interface CountedBy {
  name: string;
  help: string;
  label: string;
  read: () => Promise<ReadonlyMap<string, number>>;
}

function gaugeBy({ name, help, label, read }: CountedBy): Gauge {
  return new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [],
    async collect() {
      const counts = await read();
      this.reset();
      for (const [value, count] of counts) this.set({ [label]: value }, count);
    },
  });
}

/** Adds a gauge of another feature. It is read at each scrape, so its cost must not grow with the stored data. */
export const addGaugeBy = ({ registry }: Metrics, counted: CountedBy): void =>
  registry.registerMetric(gaugeBy(counted));

function faultsByPart(figures: Figures): Gauge<'part'> {
  return new Gauge({
    name: 'phalanx_faults',
    help: '1 while a part of the service has a fault, else 0',
    labelNames: ['part'],
    registers: [],
    collect() {
      const failed = new Set(figures.faults().map(({ part }) => part));
      for (const part of faultParts) this.set({ part }, failed.has(part) ? 1 : 0);
    },
  });
}

function limitFigures({ limits }: Figures): (Counter | Gauge)[] {
  const refusals = new Counter({
    name: 'phalanx_limit_refusals_total',
    help: 'Refusals because of a limit, by limit',
    labelNames: ['limit'],
    registers: [],
    collect() {
      this.reset();
      for (const limit of limitNames) this.inc({ limit }, limits.refusals.get(limit) ?? 0);
    },
  });
  const turns = new Gauge({
    name: 'phalanx_turns',
    help: 'Work in fair queues, by kind and state (waiting or working)',
    labelNames: ['work', 'state'],
    registers: [],
    collect() {
      for (const [work, { waiting, working }] of Object.entries(limits.turns)) {
        this.set({ work, state: 'waiting' }, waiting);
        this.set({ work, state: 'working' }, working);
      }
    },
  });
  return [refusals, turns];
}

function clusterFigures({ node, isBusConnected, invalidationsAgeMs }: Figures): Gauge[] {
  const info = new Gauge({
    name: 'phalanx_server_info',
    help: 'Name of this server as a label; the value is always 1',
    labelNames: ['node'],
    registers: [],
  });
  info.set({ node }, 1);
  return [
    info,
    gauge('phalanx_bus_connected', '1 while this server is connected to the message bus, else 0', () =>
      Number(isBusConnected()),
    ),
    gauge(
      'phalanx_invalidations_age_seconds',
      'Time since this server last read the cache invalidations of the other servers',
      () => invalidationsAgeMs() / 1000,
    ),
  ];
}

/** Node's own gauges that are named as totals, which Prometheus reports as an error. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Creates the metrics of this process for Prometheus. */
export function createMetrics(figures: Figures): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  registry.registerMetric(gauge('phalanx_hosts_connected', 'Connected hosts', figures.hosts));
  registry.registerMetric(gauge('phalanx_runs_active', 'Runs that have not ended', figures.activeRuns));
  registry.registerMetric(
    gaugeBy({ name: 'phalanx_devices', help: 'Devices by state', label: 'state', read: figures.devices }),
  );
  registry.registerMetric(
    gaugeBy({
      name: 'phalanx_device_warnings',
      help: 'Devices with a warning, of hosts connected to this server, by warning code',
      label: 'code',
      read: async () => figures.warnings(),
    }),
  );
  registry.registerMetric(faultsByPart(figures));
  registry.registerMetric(gauge('phalanx_connections', 'Open connections', figures.connections));
  registry.registerMetric(
    gauge('phalanx_data_folder_free_bytes', 'Free bytes on the disk of the data folder', figures.freeBytes),
  );
  for (const metric of limitFigures(figures)) registry.registerMetric(metric);
  for (const metric of clusterFigures(figures)) registry.registerMetric(metric);
  const logEntries = new Counter({
    name: 'phalanx_log_entries_stored_total',
    help: 'Log entries stored',
    registers: [registry],
  });
  return { registry, logEntries, records: recordFigures([registry]) };
}

/** Times every request by its route, so that an ID in a path does not become a label. */
export function measureRequests(app: FastifyInstance, { registry }: Metrics): void {
  const durations = new Histogram({
    name: 'phalanx_http_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers: [registry],
  });
  // One entry for each kind of reply: finding one by its labels costs more than counting.
  const kinds = new Map<string, Histogram.Internal<string>>();
  const kindOf = (method: string, route: string, status: number): Histogram.Internal<string> => {
    const key = `${method} ${route} ${status}`;
    const kind = kinds.get(key) ?? durations.labels(method, route, String(status));
    kinds.set(key, kind);
    return kind;
  };
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
    kindOf(request.method, route, reply.statusCode).observe(reply.elapsedTime / 1000);
    done();
  });
}

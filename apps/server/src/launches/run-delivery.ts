import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { Gathered } from '../gathered.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import { periodically } from '../periodically.ts';
import { activeRunOf, type ActiveRuns } from '../runs/active-runs.ts';
import type { PlacedRuns, RunToTell } from '../runs/placed-runs.ts';
import type { RunLifecycle } from '../runs/run-lifecycle.ts';
import { launchMessage, type LaunchPayload, type PayloadStore } from './payload-store.ts';

interface Options {
  placed: Pick<PlacedRuns, 'listToTell'>;
  payloads: Pick<PayloadStore, 'list'>;
  activeRuns: ActiveRuns;
  hosts: LinkedHosts;
  lifecycle: Pick<RunLifecycle, 'endUnsent'>;
  faults: FaultMonitor;
}

/** As long as a message that was missed delays a launch. */
const lookEveryMs = 1000;

/** Tells the hosts of this server what other servers have stored for them: launches and stops. */
export class RunDelivery {
  readonly #options: Options;
  /** This server stores them at the moment, and sends them itself. */
  readonly #ownLaunches = new Set<string>();
  /** By the epochs of their connections. */
  readonly #hostsToTell: Gathered<number>;
  readonly #endLooking: () => Promise<void>;

  constructor(options: Options) {
    this.#options = options;
    const { hosts, faults } = options;
    this.#hostsToTell = new Gathered({
      work: (epochs) => this.#tellHosts(epochs),
      ...{ faults, says: 'what hosts are to be told could not be read' },
    });
    hosts.onLook((epochs) => this.#hostsToTell.add(epochs));
    this.#endLooking = periodically(faults, lookEveryMs, () => this.#hostsToTell.add(hosts.epochs()));
  }

  /** While a launch of this server is stored and not sent yet. Call the result when it is. */
  keepOff(launch: string): () => void {
    this.#ownLaunches.add(launch);
    return () => this.#ownLaunches.delete(launch);
  }

  async close(): Promise<void> {
    await this.#endLooking();
    await this.#hostsToTell.end();
  }

  async #tellHosts(epochs: readonly number[]): Promise<void> {
    const { placed, activeRuns } = this.#options;
    const rows = (await placed.listToTell(epochs)).filter(({ launch }) => !this.#ownLaunches.has(launch));
    const unsent = rows.filter(
      ({ id, status }) => status === 'starting' && activeRuns.find(id) === undefined,
    );
    await this.#endStopped(unsent.filter((row) => row.stop_requested === 1));
    await this.#launch(unsent.filter((row) => row.stop_requested === 0));
    this.#stop(rows.filter((row) => row.stop_requested === 1));
  }

  async #endStopped(rows: readonly RunToTell[]): Promise<void> {
    for (const [epoch, ofHost] of Map.groupBy(rows, (row) => row.epoch)) {
      const runs = ofHost.map((row) => activeRunOf(row, epoch));
      if (epoch !== null) await this.#options.lifecycle.endUnsent(runs, epoch);
    }
  }

  async #launch(rows: readonly RunToTell[]): Promise<void> {
    if (rows.length === 0) return;
    const payloads = await this.#options.payloads.list([...new Set(rows.map(({ launch }) => launch))]);
    for (const payload of payloads)
      this.#send(
        payload,
        rows.filter(({ launch }) => launch === payload.launch),
      );
  }

  #send(payload: LaunchPayload, rows: readonly RunToTell[]): void {
    const { activeRuns, hosts } = this.#options;
    for (const [epoch, runs] of Map.groupBy(rows, (row) => row.epoch)) {
      if (epoch === null || !hosts.has(epoch)) continue;
      for (const row of runs) activeRuns.add(activeRunOf(row, epoch));
      const sent = runs.map((row) => ({ run_id: row.id, device_id: row.device_id, serial: row.serial }));
      hosts.send(epoch, launchMessage(payload, sent));
    }
  }

  #stop(rows: readonly RunToTell[]): void {
    const { activeRuns, hosts } = this.#options;
    const untold = rows.flatMap(({ id }) => activeRuns.find(id) ?? []).filter((run) => !run.stopRequested);
    for (const [epoch, runs] of Map.groupBy(untold, (run) => run.epoch)) {
      if (epoch === null || !hosts.has(epoch)) continue;
      for (const run of runs) run.stopRequested = true;
      hosts.send(epoch, { type: 'stop', run_ids: runs.map((run) => run.runId) });
    }
  }
}

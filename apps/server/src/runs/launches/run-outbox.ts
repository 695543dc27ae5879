import type { LaunchSecrets } from '@phalanx/protocol';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { Batcher } from '../../kernel/batcher.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import { periodically } from '../../kernel/periodically.ts';
import { activeRunOf, type ActiveRuns } from '../runs/active-runs.ts';
import { originOf, type RunToSend } from '../runs/stored-run.ts';
import type { RunLifecycle } from '../runs/run-lifecycle.ts';
import { launchMessage } from './launch-message.ts';
import type { LaunchPayload, PayloadStore } from './payload-store.ts';

interface Options {
  /** Lists the pending messages to the hosts of these connections: runs that have not begun, and requested stops. */
  listToSend: (epochs: readonly number[]) => Promise<readonly RunToSend[]>;
  payloads: Pick<PayloadStore, 'list'>;
  activeRuns: ActiveRuns;
  hosts: ConnectedHosts;
  lifecycle: Pick<RunLifecycle, 'endUnsent'>;
  grants: Pick<SecretGrants, 'grantOrNone'>;
  faults: FaultMonitor;
  /** Start timeout of a single run, in ms. */
  ackTimeoutMs: number;
}

/** Runs of one launch for one host. */
interface HostLaunch {
  readonly epoch: number;
  readonly runs: readonly RunToSend[];
  readonly secrets: LaunchSecrets;
}

/** Flush interval of all hosts, in ms: the maximum delay of a launch whose notification was missed. */
const flushEveryMs = 1000;

/** Sends stored messages to the hosts of this server: stops, and launches that other servers stored. */
export class RunOutbox {
  readonly #options: Options;
  /** Launches that this server is storing and will send itself. */
  readonly #ownLaunches = new Set<string>();
  /** Epochs of the host connections to flush. */
  readonly #toFlush: Batcher<number>;
  readonly #endFlushing: () => Promise<void>;

  constructor(options: Options) {
    this.#options = options;
    const { hosts, faults } = options;
    this.#toFlush = new Batcher({
      work: (epochs) => this.#flush(epochs),
      faults,
      failureMessage: 'the messages for hosts could not be read',
    });
    hosts.onFlush((epochs) => this.#toFlush.add(epochs));
    this.#endFlushing = periodically(faults, flushEveryMs, () => this.#toFlush.add(hosts.epochs()));
  }

  /** Excludes a launch that this server stores and sends itself. Call the returned function when it is sent. */
  suppress(launch: string): () => void {
    this.#ownLaunches.add(launch);
    return () => this.#ownLaunches.delete(launch);
  }

  async close(): Promise<void> {
    await this.#endFlushing();
    await this.#toFlush.end();
  }

  async #flush(epochs: readonly number[]): Promise<void> {
    const { listToSend, activeRuns } = this.#options;
    const rows = (await listToSend(epochs)).filter(({ launch }) => !this.#ownLaunches.has(launch));
    const unsent = rows.filter(
      ({ id, status }) => status === 'starting' && activeRuns.find(id) === undefined,
    );
    await this.#endStopped(unsent.filter((row) => row.stop_requested === 1));
    await this.#launch(unsent.filter((row) => row.stop_requested === 0));
    this.#stop(rows.filter((row) => row.stop_requested === 1));
  }

  async #endStopped(rows: readonly RunToSend[]): Promise<void> {
    for (const [epoch, ofHost] of Map.groupBy(rows, (row) => row.epoch)) {
      const runs = ofHost.map((row) => activeRunOf(row, epoch));
      if (epoch !== null) await this.#options.lifecycle.endUnsent(runs, epoch);
    }
  }

  async #launch(rows: readonly RunToSend[]): Promise<void> {
    if (rows.length === 0) return;
    const payloads = await this.#options.payloads.list([...new Set(rows.map(({ launch }) => launch))]);
    for (const payload of payloads) {
      const ofLaunch = rows.filter(({ launch }) => launch === payload.launch);
      for (const [epoch, runs] of Map.groupBy(ofLaunch, (row) => row.epoch))
        if (epoch !== null) this.#send(payload, { epoch, runs, secrets: await this.#secretsFor(runs) });
    }
  }

  /**
   * Returns the secrets for the runs of one launch on one host. Direct code gets none: its launch ID may equal the ID
   * of a project.
   */
  async #secretsFor([run]: readonly RunToSend[]): Promise<LaunchSecrets> {
    if (run === undefined || originOf(run).isDirect) return {};
    return this.#options.grants.grantOrNone(run.automation_id, run.device_owner_id);
  }

  #send(payload: LaunchPayload, { epoch, runs, secrets }: HostLaunch): void {
    const { activeRuns, hosts, ackTimeoutMs } = this.#options;
    if (!hosts.has(epoch)) return;
    for (const row of runs) activeRuns.add(activeRunOf(row, epoch));
    hosts.send(epoch, launchMessage(payload, { runs, secrets, ackTimeoutMs }));
  }

  #stop(rows: readonly RunToSend[]): void {
    const { activeRuns, hosts } = this.#options;
    const running = rows.flatMap(({ id }) => activeRuns.find(id) ?? []).filter((run) => !run.stopRequested);
    for (const [epoch, runs] of Map.groupBy(running, (run) => run.epoch)) {
      if (epoch === null || !hosts.has(epoch)) continue;
      for (const run of runs) run.stopRequested = true;
      hosts.send(epoch, { type: 'stop', run_ids: runs.map((run) => run.runId) });
    }
  }
}

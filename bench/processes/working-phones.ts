import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { heartbeatMs, SimulatedHost } from '../hosts/simulated-host.ts';

const hosts: SimulatedHost[] = [];
/** Phones and projects of active runs. */
const runs = new Map<string, { serial: string; projectId: string }>();
/** Times at which the last run of idle phones ended. */
const freeSince = new Map<string, number>();
const work = { runMs: Number.NaN };
const seen = { waitsMs: [] as number[], begunOf: {} as Record<string, number>, since: performance.now() };

function end(host: SimulatedHost, runId: string): void {
  const run = runs.get(runId);
  if (run === undefined) return;
  runs.delete(runId);
  freeSince.set(run.serial, performance.now());
  host.endSome([runId]);
}

/** Ends a run after a random time from half to one and a half of the configured duration. */
const endLater = (host: SimulatedHost, runId: string): void =>
  void setTimeout(() => end(host, runId), work.runMs * (0.5 + Math.random()));

function begin(host: SimulatedHost, runId: string): void {
  const run = runs.get(runId);
  if (run === undefined) return;
  const since = freeSince.get(run.serial);
  if (since !== undefined) seen.waitsMs.push(performance.now() - since);
  freeSince.delete(run.serial);
  seen.begunOf[run.projectId] = (seen.begunOf[run.projectId] ?? 0) + 1;
  if (!Number.isNaN(work.runMs)) endLater(host, runId);
}

answerParent({
  connect: command(
    Type.Object({
      url: Type.String(),
      token: Type.String(),
      hosts: Type.Integer(),
      devicesPerHost: Type.Integer(),
    }),
    async ({ url, token, hosts: count, devicesPerHost }) => {
      for (let no = 0; no < count; no += 1) {
        const serials = Array.from({ length: devicesPerHost }, (_, phone) => `phone-${no}-${phone}`);
        const host = await SimulatedHost.connect({ url, token, name: `host ${no}`, serials });
        host.onLaunch = ({ automation_id: projectId, runs: launched }) => {
          for (const { run_id, serial } of launched) runs.set(run_id, { serial, projectId });
        };
        host.onBegin = (runIds) => runIds.forEach((runId) => begin(host, runId));
        setInterval(() => void host.beat(), heartbeatMs);
        hosts.push(host);
      }
    },
  ),
  /** Makes runs end after about this time, including active ones. */
  work: command(Type.Object({ runMs: Type.Number() }), ({ runMs }) => {
    const isFirst = Number.isNaN(work.runMs);
    work.runMs = runMs;
    if (isFirst) for (const host of hosts) host.runIds.forEach((runId) => endLater(host, runId));
  }),
  /**
   * Returns the observations since the last call: the idle time of each phone between two runs, and the number of
   * runs that each project began.
   */
  read: () => {
    const { waitsMs, begunOf, since } = seen;
    Object.assign(seen, { waitsMs: [], begunOf: {}, since: performance.now() });
    return { waitsMs, begunOf, elapsedMs: performance.now() - since };
  },
});

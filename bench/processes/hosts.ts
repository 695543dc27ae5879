import { setTimeout as sleep } from 'node:timers/promises';
import { maxLogEntriesPerFrame } from '@phalanx/protocol';
import { Type } from 'typebox';

import { logsHeader } from '../../apps/server/src/testing/host-wire.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { LogSender, sampleEntries, sampleSteps } from '../hosts/log-sender.ts';
import { RecordSender } from '../hosts/record-sender.ts';
import { heartbeatMs, SimulatedHost, type HostPlan } from '../hosts/simulated-host.ts';

const hosts: SimulatedHost[] = [];
const senders: LogSender[] = [];
let records: RecordSender | undefined;
const connectedAtOnce = 50;

const totalStored = (): number => senders.reduce((sum, sender) => sum + sender.stored, 0);

/**
 * Connects a host. Its first heartbeat has a random delay within the interval, which spreads the heartbeats of a
 * fleet over time.
 */
async function connectHost(plan: HostPlan, heartbeats: boolean): Promise<SimulatedHost> {
  const host = await SimulatedHost.connect(plan);
  if (heartbeats) keepAlive(host);
  return host;
}

function keepAlive(host: SimulatedHost): void {
  const beat = (): void => void host.beat();
  setTimeout(() => {
    beat();
    setInterval(beat, heartbeatMs);
  }, Math.random() * heartbeatMs);
}

answerParent({
  /** Connects hosts whose devices have the serials `phone-0`, `phone-1` and so on; to several servers in turn. */
  connect: command(
    Type.Object({
      url: Type.String(),
      otherUrls: Type.Optional(Type.Array(Type.String())),
      token: Type.String(),
      hosts: Type.Integer(),
      devicesPerHost: Type.Integer(),
      heartbeats: Type.Boolean(),
    }),
    async ({ url, otherUrls = [], token, hosts: count, devicesPerHost, heartbeats }) => {
      const plans = Array.from({ length: count }, (_, host) => ({
        url: [url, ...otherUrls][host % (1 + otherUrls.length)] ?? url,
        token,
        name: `host ${host}`,
        serials: Array.from({ length: devicesPerHost }, (_unused, device) => {
          return `phone-${host * devicesPerHost + device}`;
        }),
      }));
      for (let first = 0; first < count; first += connectedAtOnce) {
        const some = plans.slice(first, first + connectedAtOnce);
        hosts.push(...(await Promise.all(some.map((plan) => connectHost(plan, heartbeats)))));
      }
    },
  ),
  /** Returns the round-trip time of a message to the server, in ms. */
  roundTrip: async () => {
    const startedAt = performance.now();
    await hosts[0]?.beat();
    return performance.now() - startedAt;
  },
  endRuns: () => Promise.all(hosts.map((host) => host.endRuns())),
  /** Gives each host a log of its run; the frames of host n have `least + n % (most - least + 1)` entries. */
  prepareLogs: command(
    Type.Object({ min: Type.Integer(), max: Type.Integer(), window: Type.Integer() }),
    ({ min, max, window }) => {
      for (const [index, host] of hosts.entries()) {
        const entries = sampleEntries(min + (index % (max - min + 1)));
        for (const runId of host.runIds) senders.push(new LogSender({ host, runId, entries, window }));
      }
      return senders.length;
    },
  ),
  /** Makes all hosts send for a time. Counts all entries, until the last one is acknowledged. */
  sendLogs: command(Type.Object({ durationMs: Type.Number() }), async ({ durationMs }) => {
    const before = totalStored();
    const startedAt = performance.now();
    for (const sender of senders) sender.start();
    await sleep(durationMs);
    await Promise.all(senders.map((sender) => sender.stop()));
    return { count: totalStored() - before, elapsedMs: performance.now() - startedAt };
  }),
  /** Sends steps of the first run. Resolves with the run's ID when they are stored. */
  sendSteps: command(Type.Object({ count: Type.Integer() }), async ({ count }) => {
    const [host] = hosts;
    const [runId] = host?.runIds ?? [];
    if (host === undefined || runId === undefined) throw new Error('a run comes first');
    const stored = new Promise<void>((resolve) => {
      host.onLogsStored = (_, seq) => {
        if (seq === count) resolve();
      };
    });
    for (let first = 1; first <= count; first += maxLogEntriesPerFrame) {
      const entries = sampleSteps(first, Math.min(maxLogEntriesPerFrame, count + 1 - first));
      host.sendFrame(logsHeader(runId, first), Buffer.from(JSON.stringify(entries)));
    }
    await stored;
    return runId;
  }),
  /** Sends one record from the first host. Returns its ID. */
  sendRecord: command(
    Type.Object({ url: Type.String(), token: Type.String(), type: Type.Enum(['outOfSteps', 'debug']) }),
    ({ url, token, type }) => {
      const [host] = hosts;
      if (host === undefined) throw new Error('connect comes first');
      records ??= new RecordSender(host, { url, token });
      return records.sendOne(type);
    },
  ),
  /** Sends records from the first host with limited concurrency. Returns the total time in ms. */
  sendRecords: command(
    Type.Object({
      url: Type.String(),
      token: Type.String(),
      records: Type.Integer(),
      atOnce: Type.Integer(),
    }),
    async ({ url, token, records: count, atOnce }) => {
      const [host] = hosts;
      if (host === undefined) throw new Error('connect comes first');
      records ??= new RecordSender(host, { url, token });
      const sender = records;
      const startedAt = performance.now();
      let left = count;
      const sendSome = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await sender.sendOne();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, sendSome));
      return performance.now() - startedAt;
    },
  ),
});

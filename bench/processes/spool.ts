/** Host's spool of logs, and a service that acknowledges, each in a process of its own. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { hostProtocolVersion, type SandboxLogEntry } from '@phalanx/protocol';
import { pino } from 'pino';
import { Type } from 'typebox';
import { ServerConnection } from '../../apps/host/src/connection/server-connection.ts';
import { createServiceClock } from '../../apps/host/src/connection/service-clock.ts';
import { LogSpool } from '../../apps/host/src/logs/log-spool.ts';
import { openHostStore } from '../../apps/host/src/store/host-store.ts';
import { startTestService } from '../../apps/host/src/testing/test-service.ts';
import { HostWire, logsHeader } from '../../apps/server/src/testing/host-wire.ts';
import { answerParent, command } from '../harness/answer-parent.ts';

const runCount = 50;
const message = 'tapped the button "Continue" and waited for the next screen'.padEnd(80, '.');
const log = pino({ level: 'silent' });

const Service = { url: Type.String(), token: Type.String() };
const Load = Type.Object({ turns: Type.Integer(), entriesPerTurn: Type.Integer() });

interface Bare {
  readonly wire: HostWire;
  readonly file: FileHandle;
}

let spool: LogSpool | undefined;
let bare: Bare | undefined;
/** Numbers of the last entries that the service has acknowledged, by run. */
const stored = new Map<string, number>();
let onStored = (): void => undefined;

const entriesOf = (count: number): SandboxLogEntry[] =>
  Array.from({ length: count }, () => ({
    timestamp: Date.now(),
    level: 'log',
    path: null,
    lineNumber: 7,
    message,
  }));

async function openSpool(url: string, token: string, dir: string): Promise<LogSpool> {
  const clock = createServiceClock();
  const connection = new ServerConnection({ serverUrl: new URL(url), token, clock, log });
  const store = await openHostStore({ dir, log });
  const opened = new LogSpool({ store, connection, clock, log });
  connection.start({
    hello: () => ({
      type: 'hello',
      protocol_version: hostProtocolVersion,
      host_id: randomUUID(),
      host_name: 'bench',
      devices: [],
      runs: [],
    }),
    listReady: () => [],
    onCommand: (received) => {
      if (received.type === 'logs_stored') opened.acknowledge(received.run_id, received.seq);
    },
  });
  await new Promise<void>((resolve) => connection.onOnline(resolve));
  return opened;
}

async function openBare(url: string, token: string, file: string): Promise<Bare> {
  const wire = new HostWire({
    url,
    token,
    onMessage: (received) => {
      if (received.type !== 'logs_stored') return;
      stored.set(received.run_id, received.seq);
      onStored();
    },
  });
  await wire.opened;
  wire.hello({ hostId: randomUUID(), name: 'bare', devices: [], runs: [] });
  return { wire, file: await open(file, 'a') };
}

answerParent({
  serve: command(Type.Object({}), async () => {
    const { url, token } = await startTestService();
    return { url, token };
  }),
  open: command(Type.Object({ ...Service, dir: Type.String() }), async ({ url, token, dir }) => {
    spool = await openSpool(url, token, dir);
  }),
  openBare: command(Type.Object({ ...Service, dir: Type.String() }), async ({ url, token, dir }) => {
    bare = await openBare(url, token, path.join(dir, 'entries'));
  }),
  /** Logs entries of all runs in each turn of the event loop. Resolves when all are acknowledged. */
  log: command(Load, async ({ turns, entriesPerTurn }) => {
    const logs = Array.from({ length: runCount }, () => spool?.open(randomUUID()));
    for (let done = 0; done < turns; done += 1) {
      for (const one of logs) void one?.push(entriesOf(entriesPerTurn));
      await turn();
    }
    for (const one of logs) await one?.whenStored();
    for (const one of logs) await spool?.remove(one?.runId ?? '');
  }),
  /** Writes the same entries to a file, and sends them in a frame for each run and turn. */
  logBare: command(Load, async ({ turns, entriesPerTurn }) => {
    if (bare === undefined) throw new Error('open it first');
    const runIds = Array.from({ length: runCount }, () => randomUUID());
    for (let done = 0; done < turns; done += 1) {
      for (const runId of runIds) {
        const entries = entriesOf(entriesPerTurn).map((one) => [one.timestamp, 0, 7, message]);
        const text = JSON.stringify(entries);
        await bare.file.appendFile(text);
        bare.wire.sendFrame(logsHeader(runId, done * entriesPerTurn + 1), text);
      }
      await turn();
    }
    const last = turns * entriesPerTurn;
    await new Promise<void>((resolve) => {
      onStored = () => {
        if (runIds.every((runId) => stored.get(runId) === last)) resolve();
      };
      onStored();
    });
    onStored = () => undefined;
  }),
});

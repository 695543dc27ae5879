import { ApiClient } from '@phalanx/client/api-client';
import { startSimulatedPhone } from '@phalanx/simulated-phone';
import { wireStepLevel } from '@phalanx/protocol';
import { pino } from 'pino';
import { Type } from 'typebox';

import { createServiceClock } from '../../apps/host/src/connection/service-clock.ts';
import { type PhoneWatch, watchPhones } from '../../apps/host/src/phones/watch-phones.ts';
import { createPhoneCamera } from '../../apps/host/src/records/phone-camera.ts';
import { defaultRecordLimits } from '../../apps/host/src/records/record-limits.ts';
import { RunRecorder } from '../../apps/host/src/records/run-recorder.ts';
import { answerCall } from '../../apps/host/src/runs/answer-call.ts';
import { RunAccount } from '../../apps/host/src/runs/run-account.ts';
import { RunSecrets } from '../../apps/host/src/runs/run-secrets.ts';
import { RunTasks } from '../../apps/host/src/runs/run-tasks.ts';
import { createSandboxPool, type SandboxPool } from '../../apps/host/src/sandbox/index.ts';
import { RunTrace } from '../../apps/host/src/logs/run-trace.ts';
import { openHostStore } from '../../apps/host/src/store/host-store.ts';
import { answerParent, command } from '../harness/answer-parent.ts';

const log = pino({ level: 'error' });
const memoryMb = 128;
const phone = { serial: 'phone-0', deviceId: 'phone-0' };
let phones: PhoneWatch | undefined;
let pool: SandboxPool | undefined;
const told = { steps: 0, bytes: 0 };

async function ready(watch: PhoneWatch): Promise<void> {
  const isReady = (): boolean => watch.find(phone.serial)?.state.state === 'ready';
  await new Promise<void>((resolve) => {
    watch.onChange(() => isReady() && resolve());
    if (isReady()) resolve();
  });
}

/** Runs the code to its end. Returns its last line. */
async function lastLine(
  { watch, sandboxes }: { watch: PhoneWatch; sandboxes: SandboxPool },
  { code, isTraced }: { code: string; isTraced: boolean },
): Promise<string> {
  let line = '';
  const recorder = new RunRecorder({
    runId: crypto.randomUUID(),
    camera: createPhoneCamera(watch, phone),
    budget: { usedBytes: 0 },
    clock: createServiceClock(),
    limits: defaultRecordLimits,
    put: async () => 0,
    log,
  });
  const trace = new RunTrace(recorder.seen, ({ path, lineNumber, timestamp, step }) => {
    told.steps += 1;
    told.bytes += JSON.stringify([timestamp, wireStepLevel, lineNumber, JSON.stringify(step), path]).length;
  });
  const run = sandboxes.start(
    {
      runId: crypto.randomUUID(),
      bundle: { code, sourceMap: null },
      arguments: { automationParameters: {}, jobVariables: {} },
      limits: { memoryMb, cpuMs: 60_000, durationMs: 120_000 },
    },
    {
      onLog: (entries) => void (line = entries.at(-1)?.message ?? line),
      onCall: answerCall({
        phones: watch,
        recorder,
        account: new RunAccount(),
        permissions: { changeApps: false, shell: false, messages: false },
        secrets: new RunSecrets({}),
        files: { attach: async () => undefined },
        film: undefined,
        settings: { claim: () => {} },
        tasks: new RunTasks({
          server: new ApiClient({ url: 'http://127.0.0.1:1' }),
          runId: '',
          secrets: new RunSecrets({}),
          timeoutMs: 0,
        }),
        phone,
      }),
      onResult: () => {},
      ...(isTraced && {
        onStepBegan: (step) => trace.began(step),
        onStepEnded: (end) => trace.ended(end),
      }),
    },
  );
  await run.started;
  run.begin();
  const { error } = await run.ended;
  recorder.close();
  if (error !== null) throw new Error(error.message);
  return line;
}

answerParent({
  /** Starts a simulated phone that another process uses, so that its work does not count as the host's. */
  phone: command(Type.Object({}), async () => {
    const { host, port } = await startSimulatedPhone({ serial: phone.serial });
    return { host, port };
  }),
  /** Opens the host's phones, sandboxes and recorder with the product's defaults, without a server. */
  open: command(
    Type.Object({ host: Type.String(), port: Type.Integer(), dataDir: Type.String() }),
    async ({ host, port, dataDir }) => {
      const store = await openHostStore({ dir: dataDir, log });
      phones = watchPhones({ addresses: [{ host, port }], dataDir, store, log });
      pool = await createSandboxPool({
        size: 1,
        memoryMb,
        fetchPolicy: { allowPrivateAddresses: false },
        log,
      });
      await ready(phones);
    },
  ),
  run: command(
    Type.Object({ code: Type.String(), isTraced: Type.Optional(Type.Boolean()) }),
    async ({ code, isTraced = false }) => {
      if (phones === undefined || pool === undefined) throw new Error('open comes first');
      return lastLine({ watch: phones, sandboxes: pool }, { code, isTraced });
    },
  ),
  /** Returns the number of log entries that the traces of all runs so far contain. */
  traced: () => told,
});

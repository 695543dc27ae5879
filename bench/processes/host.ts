import type { SandboxLogEntry } from '@phalanx/protocol';
import { startHost } from '@phalanx/host';
import { parseHostConfig } from '@phalanx/host/config';
import { startSimulatedPhone } from '@phalanx/simulated-phone';
import { pino } from 'pino';
import { Type } from 'typebox';

import { createSandboxPool, type SandboxPool } from '../../apps/host/src/sandbox/index.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { bundleSample } from '../harness/bundle-sample.ts';
import { noConfinement } from '../harness/no-confinement.ts';

const log = pino({ level: 'error' });
const memoryMb = 128;
let pool: SandboxPool | undefined;

async function firstLine(
  sandboxes: SandboxPool,
  sourceCode: string,
): Promise<{ compileMs: number; loadMs: number; lineMs: number }> {
  const startedAt = performance.now();
  const bundle = await bundleSample(sourceCode);
  const line = Promise.withResolvers<readonly SandboxLogEntry[]>();
  const askedAt = performance.now();
  const run = sandboxes.start(
    {
      runId: crypto.randomUUID(),
      bundle,
      arguments: { automationParameters: {}, jobVariables: {} },
      limits: { memoryMb, cpuMs: 60_000, durationMs: 60_000 },
    },
    {
      onLog: line.resolve,
      onCall: () => Promise.reject(new Error('the sample calls no phone')),
      onResult: () => {},
    },
  );
  await run.started;
  const loadedAt = performance.now();
  run.begin();
  await line.promise;
  const loggedAt = performance.now();
  await run.ended;
  return { compileMs: askedAt - startedAt, loadMs: loadedAt - askedAt, lineMs: loggedAt - loadedAt };
}

answerParent({
  /**
   * Starts the product's host with the product's defaults, with one simulated phone or with the phones at the given
   * ports. `unconfined` simulates a machine that can't confine processes.
   */
  start: command(
    Type.Object({
      url: Type.String(),
      token: Type.String(),
      dataDir: Type.String(),
      unconfined: Type.Optional(Type.Boolean()),
      ports: Type.Optional(Type.Array(Type.Integer())),
      helper: Type.Optional(Type.String()),
      scrcpyServer: Type.Optional(Type.String()),
      filmMb: Type.Optional(Type.Integer()),
    }),
    async ({
      url,
      token,
      dataDir,
      ports,
      helper = 'auto',
      scrcpyServer = '',
      filmMb,
      unconfined = false,
    }) => {
      const phones = ports ?? [(await startSimulatedPhone({ serial: 'phone-0' })).port];
      const config = parseHostConfig({
        PHALANX_SERVER_URL: url,
        PHALANX_TOKEN: token,
        PHALANX_DATA_DIR: dataDir,
        PHALANX_ADB_SERVER: 'off',
        PHALANX_HELPER: helper,
        PHALANX_SCRCPY_SERVER: scrcpyServer,
        ...(filmMb !== undefined && { PHALANX_RUN_FILM_MB: String(filmMb) }),
        PHALANX_PHONES: phones.map((port) => `127.0.0.1:${port}`).join(','),
        ...(ports !== undefined && { PHALANX_WARM_SANDBOXES: String(ports.length) }),
      });
      await startHost(config, { log, ...(unconfined && { confinement: await noConfinement() }) });
    },
  ),
  /** Executes one run in a warm sandbox, without server and phone. */
  sandbox: command(Type.Object({ code: Type.String() }), async ({ code }) => {
    pool ??= await createSandboxPool({
      size: 2,
      memoryMb,
      fetchPolicy: { allowPrivateAddresses: false },
      log,
    });
    return firstLine(pool, code);
  }),
});

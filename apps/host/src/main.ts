import { SettingError } from '@phalanx/settings';

import { type HostApp, startHost } from './app.ts';
import { parseHostConfig } from './config.ts';

const exitCodes = { ok: 0, failed: 1, badSetting: 2 } as const;

/** Timeout of a shutdown, longer than a normal one takes. Then the process exits without completing it. */
const stopTimeoutMs = 15_000;

/** Resolves with the name of the first signal. A second signal ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isAsked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (isAsked) process.exit(exitCodes.failed);
      isAsked = true;
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

async function stop(app: HostApp): Promise<never> {
  setTimeout(() => process.exit(exitCodes.failed), stopTimeoutMs).unref();
  await app.close();
  process.exit(exitCodes.ok);
}

function fail(error: unknown): never {
  const isSetting = error instanceof SettingError;
  console.error(isSetting ? error.message : error);
  process.exit(isSetting ? exitCodes.badSetting : exitCodes.failed);
}

const signalled = untilSignal();
try {
  const app = await startHost(parseHostConfig());
  await signalled;
  await stop(app);
} catch (error) {
  fail(error);
}

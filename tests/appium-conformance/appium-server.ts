import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';

import { until } from '@phalanx/host/testing/until';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';

export interface AppiumServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts Appium from its folder, where its log stands afterwards. */
export async function startAppium(folder: string, adbPort: number): Promise<AppiumServer> {
  const port = await freePort();
  const program = join(folder, 'node_modules', 'appium', 'index.js');
  const child = spawn(
    process.execPath,
    [program, 'server', '--address', '127.0.0.1', '--port', String(port), '--use-drivers', 'uiautomator2'],
    {
      cwd: folder,
      env: {
        ...process.env,
        HOME: folder,
        APPIUM_HOME: folder,
        ANDROID_HOME: join(folder, 'sdk'),
        ANDROID_ADB_SERVER_PORT: String(adbPort),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exited = once(child, 'exit');
  const log = createWriteStream(join(folder, 'appium.log'));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const url = `http://127.0.0.1:${port}`;
  await until(
    'Appium answers',
    () =>
      fetch(`${url}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (isUp) => isUp,
  );
  return {
    url,
    stop: async () => {
      child.kill();
      await exited;
      log.end();
    },
  };
}

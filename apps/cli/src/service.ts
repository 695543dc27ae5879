import { prepareConsole } from '@phalanx/console';
import { type HostApp, startHost } from '@phalanx/host';
import { parseHostConfig } from '@phalanx/host/config';
import { startServer, type ServerApp, type ServerOverrides } from '@phalanx/server';
import { parseServerConfig } from '@phalanx/server/config';
import type { Environment } from '@phalanx/settings';

import { startSimulatedPhones, withPhones } from './simulated-phones.ts';

export interface Service {
  readonly server: ServerApp;
  readonly host: HostApp;
  close(): Promise<void>;
}

interface Closable {
  close(): Promise<void>;
}

/** Starts server and host in one process, with this number of simulated phones besides the real ones. */
export async function startService(
  settings: Environment,
  simulatedPhones: number,
  overrides: ServerOverrides = {},
): Promise<Service> {
  const started: Closable[] = [];
  const close = async (): Promise<void> => {
    for (const part of started.toReversed()) await part.close();
  };
  try {
    const server = await startServer(parseServerConfig(settings), {
      console: prepareConsole(),
      ...overrides,
    });
    started.push(server);
    const phones = await startSimulatedPhones(simulatedPhones);
    started.push({ close: async () => void (await Promise.all(phones.map((phone) => phone.stop()))) });
    const hostConfig = parseHostConfig({
      ...settings,
      PHALANX_SERVER_URL: server.url,
      PHALANX_TOKEN: await server.createHostToken('host of this machine'),
      PHALANX_PHONES: withPhones(settings, phones),
    });
    const host = await startHost(hostConfig);
    started.push(host);
    return { server, host, close };
  } catch (error) {
    await close();
    throw error;
  }
}

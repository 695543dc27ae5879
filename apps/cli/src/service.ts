import { parseHostConfig, startHost } from '@phalanx/host';
import { parseServerConfig, startServer, type ServerApp } from '@phalanx/server';

import { startSimulatedPhones } from './simulated-phones.ts';
import { StartError, type Settings } from './settings.ts';

export interface Service {
  readonly server: ServerApp;
  close(): Promise<void>;
}

interface Closable {
  close(): Promise<void>;
}

/** Server and host in one process, with so many simulated phones beside the real ones. */
export async function startService(settings: Settings, simulatedPhones: number): Promise<Service> {
  const started: Closable[] = [];
  const close = async (): Promise<void> => {
    for (const part of started.toReversed()) await part.close();
  };
  try {
    const server = await startServer(parseServerConfig(settings));
    started.push(server);
    const phones = await startSimulatedPhones(simulatedPhones);
    started.push({ close: async () => void (await Promise.all(phones.map((phone) => phone.stop()))) });
    const addresses = [settings['PHALANX_PHONES'], ...phones.map((phone) => `${phone.host}:${phone.port}`)];
    const hostConfig = parseHostConfig({
      ...settings,
      PHALANX_SERVER_URL: server.url,
      PHALANX_TOKEN: await server.createHostToken('host of this machine'),
      PHALANX_PHONES: addresses.filter(Boolean).join(','),
    });
    started.push(await startHost(hostConfig));
    return { server, close };
  } catch (error) {
    await close();
    throw explained(error, settings);
  }
}

/** The usual reasons why a start fails, in words that say what to do. */
export function explained(error: unknown, settings: Settings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    const address = settings['PHALANX_LISTEN'] ?? '127.0.0.1:8080';
    return new StartError(
      `The address ${address} is taken: stop the program that has it, or give another with PHALANX_LISTEN.`,
    );
  }
  if (code === 'SQLITE_BUSY') {
    const folder = settings['PHALANX_DATA_DIR'] ?? './data';
    return new StartError(
      `The data folder ${folder} is in use by another Phalanx server: stop it, or give another folder with PHALANX_DATA_DIR.`,
    );
  }
  return error;
}

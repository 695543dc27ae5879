import { randomUUID } from 'node:crypto';
import { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import { deviceRoutes } from '@phalanx/protocol';
import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** Server of the product, with the token that it was started with. */
export interface Api {
  url: string;
  token: string;
}

/** Code that the launches of all rows run. */
export const sampleCode = 'const greeting: string = "hello";\nconsole.log(greeting, agent.arguments);\n';

/** Returns a token of the required length. It need not be secret, because it lives only as long as the row. */
export const newToken = (): string => `bench-${randomUUID()}`;

const clientOf = ({ url, token }: Api): ApiClient => new ApiClient({ url, token, retryForMs: 0 });

/** Sends a request, a GET without a body. Throws unless the reply is a success. */
export const askText = (api: Api, path: string, body?: object): Promise<string> =>
  clientOf(api).text({ method: body === undefined ? 'GET' : 'POST', path }, { body });

export async function ask<Reply extends TSchema>(
  api: Api,
  path: string,
  reply: Reply,
  body?: object,
): Promise<Static<Reply>> {
  return Value.Parse(reply, JSON.parse(await askText(api, path, body)));
}

export async function listDeviceIds(api: Api): Promise<string[]> {
  const client = clientOf(api);
  const devices = await readAll(
    (query) => client.call(deviceRoutes.list, { query }),
    (page) => page.devices,
  );
  return devices.map(({ device_id: id }) => id);
}

export const directLaunch = (deviceId: string) => ({
  device_id: deviceId,
  launch_id: randomUUID(),
  command: 'start',
  code: sampleCode,
});

export type DirectLaunch = ReturnType<typeof directLaunch>;

export const launchPath = '/api/v2/devices/launchDirectAutomation';

/** Number of parallel launches, lower than the queue of the compiler (PHALANX_MAX_WAITING). */
const launchesAtOnce = 50;

/** Starts a run on each of the devices. */
export async function launchOnEach(api: Api, deviceIds: readonly string[]): Promise<DirectLaunch[]> {
  const launches = deviceIds.map(directLaunch);
  for (let first = 0; first < launches.length; first += launchesAtOnce) {
    const some = launches.slice(first, first + launchesAtOnce);
    await Promise.all(some.map((launch) => ask(api, launchPath, Type.Unknown(), launch)));
  }
  return launches;
}

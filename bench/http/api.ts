import { randomUUID } from 'node:crypto';
import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';

/** A server of the product and the token that it was started with. */
export interface Api {
  url: string;
  token: string;
}

/** Code that the launches of all rows run. */
export const sampleCode = 'const greeting: string = "hello";\nconsole.log(greeting, agent.arguments);\n';

/** Token of the length that the service requires. It need not be kept secret: it lives as long as the row. */
export const newToken = (): string => `bench-${randomUUID()}`;

/** Without a body it is a GET. Throws unless the answer is a success. */
export async function askText({ url, token }: Api, path: string, body?: object): Promise<string> {
  const response = await fetch(new URL(path, url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`);
  return text;
}

export async function ask<Reply extends TSchema>(
  api: Api,
  path: string,
  reply: Reply,
  body?: object,
): Promise<Static<Reply>> {
  return Value.Parse(reply, JSON.parse(await askText(api, path, body)));
}

const Devices = Type.Object({
  devices: Type.Array(Type.Object({ device_id: Type.String() })),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

export async function listDeviceIds(api: Api): Promise<string[]> {
  const ids: string[] = [];
  for (let from: string | null = ''; from !== null;) {
    const page: Static<typeof Devices> = await ask(
      api,
      `/api/v2/devices?limit=1000${from && `&cursor=${from}`}`,
      Devices,
    );
    ids.push(...page.devices.map((device) => device.device_id));
    from = page.next_cursor;
  }
  return ids;
}

export const directLaunch = (deviceId: string) => ({
  device_id: deviceId,
  launch_id: randomUUID(),
  command: 'start',
  code: sampleCode,
});

export type DirectLaunch = ReturnType<typeof directLaunch>;

export const launchPath = '/api/v2/devices/launchDirectAutomation';

/** Fewer than may wait for the compiler (PHALANX_MAX_WAITING). */
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

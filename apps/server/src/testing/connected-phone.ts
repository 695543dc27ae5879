import type { TestHost } from './test-host.ts';
import type { TestServer } from './test-server.ts';

export type Caller = Awaited<ReturnType<TestServer['createCaller']>>;

/** The phone of a host of its own. */
export interface ConnectedPhone {
  readonly host: TestHost;
  readonly id: string;
}

interface Wanted {
  readonly serial: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly requestHabit?: 'answer';
}

/** Connects a host of this user with one phone, which gets these labels. */
export async function connectPhone(
  server: TestServer,
  { api, token }: Caller,
  { serial, labels, ...habits }: Wanted,
): Promise<ConnectedPhone> {
  const { host, deviceId: id } = await server.connectHost({ token, serials: [serial], ...habits }, api);
  await api('PUT', `/api/v2/devices/${id}/labels`, { body: { labels } });
  return { host, id };
}

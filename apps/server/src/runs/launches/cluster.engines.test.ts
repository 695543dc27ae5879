import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';

import { stringAt } from '../../testing/string-at.ts';
import { type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost, TestHostOptions } from '../../testing/test-host.ts';
import type { TestServer } from '../../testing/test-server.ts';
import { canBeSeveral, startServers } from '../../testing/test-servers.ts';
import { Viewer } from '../../control/live/testing/viewers.ts';

type Pair = readonly [TestServer, TestServer];

/** Address at which no NATS server listens. */
const withoutNats = { PHALANX_NATS_URL: 'nats://127.0.0.1:9' };

describe.skipIf(!canBeSeveral)('with several servers', () => {
  const hosts: TestHost[] = [];
  const pairs = new Map<string, Promise<Pair>>();

  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.cut();
  });
  afterAll(async () => {
    for (const pair of await Promise.all(pairs.values())) for (const server of pair) await server.close();
  });

  async function start(settings?: Record<string, string>): Promise<Pair> {
    const [one, other] = await startServers(2, settings);
    if (one === undefined || other === undefined) throw new Error('two servers were to start');
    return [one, other];
  }

  /** Starts one pair of servers per settings. Tests share it, because each test has its own hosts, phones and users. */
  function open(settings?: Record<string, string>): Promise<Pair> {
    const key = JSON.stringify(settings ?? {});
    const pair = pairs.get(key) ?? start(settings);
    pairs.set(key, pair);
    return pair;
  }

  async function connect(
    server: TestServer,
    options?: Partial<TestHostOptions>,
  ): Promise<{ host: TestHost; deviceId: string; deviceIds: string[] }> {
    const connected = await server.connectHost({ serials: [crypto.randomUUID()], ...options });
    hosts.push(connected.host);
    return connected;
  }

  const stateOn = async (server: TestServer, deviceId: string): Promise<string> =>
    stringAt((await server.api('GET', `/api/v2/devices/${deviceId}`)).body['device'], 'state');

  it('a launch and a stop reach a host of another server, and all show it', async () => {
    const [one, other] = await open();
    const { host, deviceId } = await connect(one);
    const { launchId, runId } = await other.startRun(host, deviceId);
    expect(runId).not.toBe('');
    expect(await stateOn(one, deviceId)).toBe('busy');
    expect(await stateOn(other, deviceId)).toBe('busy');
    expect((await other.stop(deviceId, launchId)).body).toMatchObject({ success: true, message: 'Stopped.' });
    for (const server of [one, other]) {
      expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
      expect(await stateOn(server, deviceId)).toBe('ready');
    }
    expect(host.messages('launch')).toHaveLength(1);
  });

  it('direct code whose launch ID is the ID of a project gets none of its secrets', async () => {
    const [one, other] = await open();
    const { host, deviceId } = await connect(one);
    const projectId = await one.createProject();
    const body = { value: 'hunter2-of-alice' };
    await one.api('PUT', `/api/v2/automation-project/${projectId}/secrets/SHOP`, { body });
    await other.startRun(host, deviceId, projectId);
    const [launch] = host.messages('launch');
    expect(launch).toMatchObject({ automation_id: projectId });
    expect(JSON.stringify(launch)).not.toContain(body.value);
  });

  it('one launch ID is one launch, wherever it is asked for', async () => {
    const [one, other] = await open();
    const { host, deviceId } = await connect(one);
    const launchId = crypto.randomUUID();
    const replies = await Promise.all(
      [one, other, one, other].map((server) => server.start(deviceId, launchId)),
    );
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]).toMatchObject({ status: 200 });
    expect(host.messages('launch').flatMap(({ runs }) => runs)).toHaveLength(1);
  });

  it('a launch that a host does not begin is refused in the same words everywhere', async () => {
    const [one, other] = await open();
    const { deviceId } = await connect(one, { launchHabit: 'refuse' });
    const launchId = crypto.randomUUID();
    const replies = await Promise.all([one, other].map((server) => server.start(deviceId, launchId)));
    const again = await other.start(deviceId, launchId);
    const told = [...replies, again].map(({ status, body }) => [status, body['message'], body['devices']]);
    expect(told[0]?.[0]).toBe(400);
    expect(told[1]).toEqual(told[0]);
    expect(told[2]).toEqual(told[0]);
  });

  it('a run goes on when its host moves to another server, and is stopped there', async () => {
    const [one, other] = await open();
    const { host, deviceId } = await connect(one);
    const { launchId, runId } = await one.startRun(host, deviceId);
    host.url = other.url;
    await host.connect();
    await expect.poll(() => stateOn(one, deviceId)).toBe('busy');
    expect(await other.run(runId)).toMatchObject({ status: 'running' });
    expect((await one.stop(deviceId, launchId)).status).toBe(200);
    expect(await other.run(runId)).toMatchObject({ status: 'stopped' });
  });

  it('a connection that a newer one has replaced is ended by the server that had it', async () => {
    const [one, other] = await open();
    const { host } = await connect(one);
    const serials = host.devices.map(({ serial }) => serial);
    const second = await connect(other, { hostId: host.hostId, serials });
    expect(await host.ended()).toBe(4000);
    expect(second.host.isOpen).toBe(true);
    expect(await stateOn(one, second.deviceId)).toBe('ready');
  });

  it('pictures are asked for through another server', async () => {
    const [one, other] = await open();
    const { deviceId } = await connect(one, { requestHabit: 'answer' });
    const at = `/api/v2/devices/${deviceId}/screenshot`;
    const [here, there] = [await one.api('GET', at), await other.api('GET', at)];
    expect(here.status).toBe(200);
    expect(there.text).toBe(here.text);
  });

  it('without a word between them a launch only takes longer', async () => {
    const [one, other] = await open(withoutNats);
    const { host, deviceId } = await connect(one);
    const { launchId, runId } = await other.startRun(host, deviceId);
    expect((await other.stop(deviceId, launchId)).status).toBe(200);
    expect(await one.run(runId)).toMatchObject({ status: 'stopped' });
  });

  it('a device that is leased at one server takes no input of another user at another server, though it has not heard of the lease', async () => {
    const [one, other] = await open(withoutNats);
    const { host, deviceId } = await connect(one, { requestHabit: 'answer' });
    const holder = await one.createCaller('holder');
    const path = `/api/v2/devices/${deviceId}`;
    await one.api('PUT', `${path}/members/${holder.userId}`, { body: { role: 'launch' } });
    const holderThere = createApiCaller(other.url, holder.token);
    const lease = (): Promise<ApiReply> => holderThere('POST', `${path}/lease`, { body: {} });
    await expect.poll(async () => (await lease()).status).toBe(200);
    const tap = { body: { type: 'tap', x: 1, y: 1 } };
    expect(await one.api('POST', `${path}/input`, tap)).toMatchObject({ body: { code: 'device_leased' } });
    expect(host.messages('input')).toEqual([]);
  });

  it.each([
    ['', {}],
    [', also without a word between them', withoutNats],
  ])(
    'a live view at one server ends when the share of its viewer is revoked at another%s',
    async (_, settings) => {
      const [one, other] = await open(settings);
      const { deviceId } = await connect(one);
      const member = await one.createCaller('viewer');
      const share = `/api/v2/devices/${deviceId}/members/${member.userId}`;
      await one.api('PUT', share, { body: { role: 'view' } });
      const url = `${other.url}/api/v2/devices/${deviceId}/live`;
      const watch = (): Promise<Viewer> => Viewer.open(url, { authorization: `Bearer ${member.token}` });
      await expect.poll(async () => (await watch()).close()).toBeUndefined();
      const viewer = await watch();
      await one.api('DELETE', share);
      expect(await viewer.ended).toBe(4004);
      await expect(watch()).rejects.toThrow();
    },
  );

  it('a screen that one server has read is known to the others for as long as that server is there', async () => {
    const [one, other] = await start();
    onTestFinished(() => one.close());
    const { deviceId } = await connect(one, { requestHabit: 'answer' });
    const path = `/api/v2/devices/${deviceId}`;
    const { body } = await one.api('GET', `${path}/screen?view=compact`);
    const since = `${path}/screen?view=diff&since=${stringAt(body['screen'], 'screen_id')}`;
    expect((await other.api('GET', since)).body).toMatchObject({
      screen: { view: 'diff', lines: ['nothing has changed'] },
    });
    const stranger = await one.createCaller('stranger');
    await one.api('PUT', `${path}/members/${stranger.userId}`, { body: { role: 'launch' } });
    const refused = { status: 404, body: { code: 'screen_expired' } };
    expect(await createApiCaller(other.url, stranger.token)('GET', since)).toMatchObject(refused);
    const ofOther = await other.api('GET', `${path}/screen?view=compact`);
    await other.close();
    const gone = `${path}/screen?view=diff&since=${stringAt(ofOther.body['screen'], 'screen_id')}`;
    expect(await one.api('GET', gone)).toMatchObject(refused);
  });

  it('a launch whose host goes to another server at that moment is begun there', async () => {
    const [one, other] = await open();
    const { host, deviceId } = await connect(one, { launchHabit: 'silent' });
    const sent = host.waitFor('launch');
    const launched = other.start(deviceId);
    await sent;
    // The host does not report the launch, which simulates a launch message lost in transit.
    host.url = other.url;
    host.launchHabit = 'ack';
    await host.cut();
    await host.connect();
    expect((await launched).status).toBe(200);
  });

  it('nobody has more runs than they may, wherever they launch', async () => {
    const [one, other] = await open({ PHALANX_MAX_RUNS_PER_DEVICE: '3', PHALANX_MAX_RUNS: '5' });
    const { deviceIds } = await connect(one, { serials: ['a', 'b'] });
    const countStarted = async (deviceId: string | undefined, count: number): Promise<number> => {
      const replies = await Promise.all(
        Array.from({ length: count }, (_, at) => (at % 2 === 0 ? one : other).start(deviceId ?? '')),
      );
      const others = replies.filter(({ status }) => status !== 200 && status !== 429);
      expect(others.map(({ text }) => text)).toEqual([]);
      return replies.filter(({ status }) => status === 200).length;
    };
    expect(await countStarted(deviceIds[0], 6)).toBe(3);
    expect(await countStarted(deviceIds[1], 4)).toBe(2);
  });
});

import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import { deviceReport } from '../../../testing/host-wire.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { TestServer } from '../../../testing/test-server.ts';

let server: TestServer;
let host: TestHost;
let ids: string[];
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 20 });
  ({ host, deviceIds: ids } = await server.connectHost({ serials: ['a', 'b', 'c'] }));
  project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const label = (id: string | undefined, labels: unknown) =>
  server.api('PUT', `/api/v2/devices/${id}/labels`, { body: { labels } });
const found = async (selector: string): Promise<string[]> => {
  const { body, text, status } = await server.api(
    'GET',
    `/api/v2/devices?selector=${encodeURIComponent(selector)}`,
  );
  if (status !== 200) throw new Error(text);
  const devices = Array.isArray(body['devices']) ? body['devices'] : [];
  return devices.map((device) => stringAt(device, 'serial')).toSorted((one, other) => (one < other ? -1 : 1));
};
const launch = (more: object) =>
  server.api('POST', '/api/v2/devices/launchAutomation', {
    body: { automationId: project.id, command: 'start', ...more },
  });

it('phones are selected by their labels, those of their host, their names, and what is given of them', async () => {
  expect((await label(ids[0], { country: 'de', rack: '3' })).body).toMatchObject({
    labels: { country: 'de' },
  });
  await label(ids[1], { country: 'at' });
  const ofHost = await server.api('PUT', `/api/v2/hosts/${host.hostId}/labels`, {
    body: { labels: { country: 'ch', site: 'x' } },
  });
  expect(ofHost.status, ofHost.text).toBe(200);
  const named = await server.api('PATCH', `/api/v2/devices/${ids[2]}`, { body: { name: ' Shelf 3 ' } });
  expect(named.body['device']).toMatchObject({ name: 'Shelf 3', labels: { country: 'ch', site: 'x' } });
  expect(await found('country=de')).toEqual(['a']);
  expect(await found('country=DE|at, site=x')).toEqual(['a', 'b']);
  expect(await found('country!=de,model~pixel')).toEqual(['b', 'c']);
  expect(await found('name=shelf 3')).toEqual(['c']);
  expect(await found('rack>=4')).toEqual([]);
  expect(await found('android>=16,maker=google,state=ready')).toEqual(['a', 'b', 'c']);
});

it('what is no selector and no label is refused with the reason, and changes nothing', async () => {
  const bad = await server.api('GET', '/api/v2/devices?selector=country');
  expect(bad.body).toMatchObject({ code: 'invalid_selector' });
  expect((await server.api('GET', '/api/v2/devices?selector=pool%3Dnone')).body['message']).toContain(
    'no pool',
  );
  for (const labels of [{ Model: 'x' }, { model: 'x' }, { pool: 'x' }, { a: '' }, { a: 'b,c' }, { a: ' b' }])
    expect((await label(ids[0], labels)).body, JSON.stringify(labels)).toMatchObject({
      code: 'invalid_labels',
    });
  expect(await found('country=de,rack=3')).toEqual(['a']);
});

it('a pool is a saved selector of its user, known to every server at once', async () => {
  const put = await server.api('PUT', '/api/v2/pools/Alps', { body: { selector: 'country=at|ch' } });
  expect(put.body['pool']).toEqual({
    name: 'Alps',
    selector: 'country=at|ch',
    devices: { total: 2, ready: 2 },
  });
  for (const api of server.apis)
    expect((await api('GET', '/api/v2/pools')).body['pools']).toMatchObject([{ name: 'Alps' }]);
  expect(await found('pool=alps')).toEqual(['b', 'c']);
  const nested = await server.api('PUT', '/api/v2/pools/two', { body: { selector: 'pool=alps' } });
  expect(nested.body).toMatchObject({ code: 'invalid_selector' });
  const ada = await server.createCaller('ada');
  expect((await ada.api('GET', '/api/v2/devices?selector=pool%3Dalps')).body['message']).toContain('no pool');
});

it('a launch takes a selector and a count in place of IDs, and chooses among the free phones', async () => {
  const started = await launch({ selector: 'pool=alps', count: 1 });
  expect(started.status, started.text).toBe(200);
  const more = await launch({ selector: 'pool=alps', count: 2 });
  expect(more.body).toMatchObject({ code: 'too_few_devices' });
  expect(more.body['message']).toContain('of 2 phones that fit, 1 is free, 1 is busy');
  const rest = await launch({ selector: 'pool=alps' });
  expect(rest.body['devices']).toHaveLength(1);
  const stopped = await launch({
    selector: 'pool=alps',
    command: 'stop',
    automationId: project.id.toUpperCase(),
  });
  expect(stopped.body, stopped.text).toMatchObject({ message: 'Stopped on 2 devices.' });
  expect((await launch({})).body['message']).toBe('Field device_ids is required.');
  expect((await launch({ device_ids: [ids[0]], selector: 'rack=3' })).status).toBe(400);
});

it('labels are the owner’s to set and everybody’s to see who shares the phone', async () => {
  const ben = await server.createCaller('ben');
  expect((await ben.api('PUT', `/api/v2/devices/${ids[0]}/labels`, { body: { labels: {} } })).status).toBe(
    404,
  );
  await server.api('PUT', `/api/v2/devices/${ids[0]}/members/${ben.userId}`, { body: { role: 'launch' } });
  expect((await ben.api('PUT', `/api/v2/devices/${ids[0]}/labels`, { body: { labels: {} } })).status).toBe(
    403,
  );
  const seen = await ben.api('GET', '/api/v2/devices');
  expect(seen.body['devices']).toMatchObject([{ labels: { country: 'de', rack: '3', site: 'x' } }]);
});

it('a phone that is forgotten and comes back has no labels and no name', async () => {
  host.devices = [deviceReport('gone')];
  host.send({ type: 'devices', devices: host.devices });
  await expect.poll(() => found('serial=gone')).toEqual(['gone']);
  const { body } = await server.api('GET', '/api/v2/devices?selector=serial%3Dgone');
  const [{ device_id: id }] = Array.isArray(body['devices']) ? body['devices'] : [];
  await label(id, { country: 'fr' });
  await host.cut();
  await expect.poll(async () => (await server.api('DELETE', `/api/v2/devices/${id}`)).status).toBe(200);
  expect(await found('country=fr')).toEqual([]);
});

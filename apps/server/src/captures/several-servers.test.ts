import { randomBytes } from 'node:crypto';
import { recordRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { recordReport, screenReport, tell } from '../testing/record-reports.ts';
import { isS3Here, makeTestBucket } from '../testing/test-bucket.ts';
import type { TestServer } from '../testing/test-server.ts';
import { canBeSeveral, startServers } from '../testing/test-servers.ts';

const tree = '{"root":{}}';

describe.skipIf(!canBeSeveral || !isS3Here)('two servers with one bucket', () => {
  let one: TestServer;
  let other: TestServer;
  beforeAll(async () => {
    const [first, second] = await startServers(2, (await makeTestBucket()).settings);
    if (first === undefined || second === undefined) throw new Error('two servers were asked for');
    [one, other] = [first, second];
  });
  afterAll(async () => {
    await one.dispose();
    await other.dispose();
  });

  it('take captures of each other’s hosts, and each serves what the other has taken', async () => {
    const { host, deviceId } = await one.connectHost();
    const { runId } = await one.startRun(host, deviceId);
    const report = recordReport(runId, { screens: [screenReport({ screenshot: null })] });
    await tell(host, report);
    const place = recordRoutes.putCapture.path
      .replace(':record_id', report.record_id)
      .replace(':screen_id', report.screens[0]?.screen_id ?? '')
      .replace(':kind', 'tree');
    const put = await other.api('PUT', place, { raw: tree, contentType: 'application/json' });
    expect(put.status).toBe(200);
    for (const server of [one, other]) {
      const { text } = await server.api('GET', `${recordRoutes.list.path}?cursor=${report.record_id}`);
      const given = new URL(/"uiUrl":"([^"]+)"/.exec(text)?.[1] ?? '');
      for (const { url } of [one, other])
        expect(await (await fetch(`${url}${given.pathname}${given.search}`)).text()).toBe(tree);
    }
    await host.cut();
  });

  it('have each other’s large packs', async () => {
    const id = await one.createProject();
    const content = randomBytes(400_000).toString('base64');
    const path = `/api/v2/automation/file/${id}`;
    expect((await one.api('PUT', path, { body: { path: 'large.txt', content } })).status).toBe(200);
    const { body } = await other.api('GET', `${path}?path=large.txt`);
    expect(body['content']).toBe(content);
  });
});

import { randomBytes } from 'node:crypto';
import { recordRoutes, type CaptureKind, type RecordReport } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ApiReply } from '../../testing/api-caller.ts';
import { jpegBytes, recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import { isS3Here, makeTestBucket } from '../../testing/engines/test-bucket.ts';
import type { TestHost } from '../../testing/test-host.ts';
import type { TestServer } from '../../testing/test-server.ts';
import { canBeSeveral, startServers } from '../../testing/test-servers.ts';

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

  async function announce(): Promise<{ host: TestHost; report: RecordReport }> {
    const { host, deviceId } = await one.connectHost();
    const { runId } = await one.startRun(host, deviceId);
    const report = recordReport(runId, { screens: [screenReport()] });
    await sendReport(host, report);
    return { host, report };
  }

  const placeOf = ({ record_id, screens }: RecordReport, kind: CaptureKind): string =>
    recordRoutes.putCapture.path
      .replace(':record_id', record_id)
      .replace(':screen_id', screens[0]?.screen_id ?? '')
      .replace(':kind', kind);

  const putTree = (server: TestServer, report: RecordReport): Promise<ApiReply> =>
    server.api('PUT', placeOf(report, 'tree'), { raw: tree, contentType: 'application/json' });

  /** Reads the tree from each server, at the URL that each of them returns. */
  async function servedTrees({ record_id }: RecordReport): Promise<string[]> {
    const served: string[] = [];
    for (const server of [one, other]) {
      const { text } = await server.api('GET', `${recordRoutes.list.path}?cursor=${record_id}`);
      const given = new URL(/"uiUrl":"([^"]+)"/.exec(text)?.[1] ?? '');
      for (const { url } of [one, other])
        served.push(await (await fetch(`${url}${given.pathname}${given.search}`)).text());
    }
    return served;
  }

  it('take captures of each other’s hosts, and each serves what the other has taken', async () => {
    const { host, report } = await announce();
    expect((await putTree(other, report)).status).toBe(200);
    expect(await servedTrees(report)).toEqual([tree, tree, tree, tree]);
    await host.cut();
  });

  it('take one that comes to both at once, and keep what the record had', async () => {
    const { host, report } = await announce();
    expect((await putTree(one, report)).status).toBe(200);
    const request = { raw: jpegBytes(500_000), contentType: 'image/jpeg' };
    const put = (server: TestServer): Promise<ApiReply> =>
      server.api('PUT', placeOf(report, 'screenshot'), request);
    const replies = await Promise.all([one, other, one, other, one, other].map(put));
    expect(replies.map(({ status }) => status)).toEqual(Array(replies.length).fill(200));
    expect(await servedTrees(report)).toEqual([tree, tree, tree, tree]);
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

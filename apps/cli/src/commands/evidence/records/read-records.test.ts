import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiClient } from '@phalanx/client/api-client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { clientFor } from '../../../connection/client-for.ts';
import { getRecordId } from './read-records.ts';

const start = '01a209b7-08db-72df-956f-433e5c53';
const ids = ['888f', '8890', '9000', 'ffff'].map((end) => `${start}${end}`);
ids.push('01a209b7-ffff-7fff-bfff-ffffffffffff', 'ffffffff-ffff-7fff-bfff-ffffffffffff');

/** Lists these records as a server does: the newest one before the cursor. */
const server = createServer((request, response) => {
  const cursor = new URL(request.url ?? '/', 'http://x').searchParams.get('before_cursor') ?? '';
  const id = ids.findLast((one) => one < cursor);
  response.end(JSON.stringify({ success: true, result: id === undefined ? null : { out_of_steps_id: id } }));
});

let api: ApiClient;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  api = clientFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token');
});
afterAll(() => void server.close());

test.each(ids)('%s is found by all of its beginnings that no other record has', async (id) => {
  for (let length = 4; length < id.length; length += 1) {
    const beginning = id.slice(0, length);
    const alike = ids.filter((one) => one.startsWith(beginning));
    const answer = getRecordId(api, beginning);
    if (alike.length === 1) expect(await answer).toBe(id);
    else await expect(answer).rejects.toThrow(/Several records begin with/);
  }
});

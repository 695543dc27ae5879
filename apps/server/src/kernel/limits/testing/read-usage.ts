import type { UsageRow } from '@phalanx/protocol';

import { createApiCaller } from '../../../testing/api-caller.ts';
import type { TestServer } from '../../../testing/test-server.ts';

interface Asked {
  server: TestServer;
  /** Token of the caller. */
  token: string;
  limit: string;
  path?: string;
}

async function readRow(url: string, { token, limit, path = '/api/v2/me/usage' }: Asked): Promise<UsageRow> {
  const { body, text } = await createApiCaller(url, token)('GET', path);
  const found = (body['usage'] as { limits: UsageRow[] }).limits.find((row) => row.limit === limit);
  if (found === undefined) throw new Error(text);
  return found;
}

/** Reads a user's usage of a limit, with the refusals of all servers: each counts only its own. */
export async function readUsage(asked: Asked): Promise<UsageRow> {
  const rows = await Promise.all(asked.server.urls.map((url) => readRow(url, asked)));
  const [first] = rows;
  if (first === undefined) throw new Error('the test server is closed');
  return { ...first, refused: rows.reduce((sum, { refused }) => sum + refused, 0) };
}

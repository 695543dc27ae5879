import { commitRoutes, type ListedCommit } from '@phalanx/protocol';

import type { ApiClient } from '../api-client.ts';
import { usageError } from '../exit-codes.ts';

/** Newest first, page by page, with the cursor to what comes after the page. */
async function* listPages(
  api: ApiClient,
  id: string,
): AsyncGenerator<{ commits: ListedCommit[]; next_cursor: string | null }> {
  for (let cursor: string | undefined; ;) {
    const query = cursor === undefined ? {} : { cursor };
    const page = await api.call(commitRoutes.list, { params: { id }, query });
    yield page;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

/** At most `limit`; the cursor is that of the last whole page. */
export async function readCommits(
  api: ApiClient,
  id: string,
  limit: number,
): Promise<{ commits: ListedCommit[]; next_cursor: string | null }> {
  const commits: ListedCommit[] = [];
  for await (const page of listPages(api, id)) {
    commits.push(...page.commits);
    if (commits.length >= limit) return { commits: commits.slice(0, limit), next_cursor: page.next_cursor };
  }
  return { commits, next_cursor: null };
}

/** The one commit whose hash begins with `text`. A whole hash is left to the server: it knows more than the history. */
export async function getCommitHash(api: ApiClient, id: string, text: string): Promise<string> {
  const start = text.toLowerCase();
  if (/^[0-9a-f]{40}$/.test(start)) return start;
  if (!/^[0-9a-f]{4,39}$/.test(start))
    throw usageError(`"${text}" is no commit hash: give at least 4 of its digits.`);
  const found: string[] = [];
  for await (const { commits } of listPages(api, id))
    found.push(...commits.map(({ hash }) => hash).filter((hash) => hash.startsWith(start)));
  const [only] = found;
  if (only === undefined)
    throw usageError(`No commit begins with ${text}: "phalanx project log" lists them.`);
  if (found.length === 1) return only;
  throw usageError(`Several commits begin with ${text}: ${found.join(', ')}.`);
}

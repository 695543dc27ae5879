import type { ListedCommit } from '@phalanx/protocol';

import type { GitRepository } from '../git/git-repository.ts';
import { isAncestor } from '../git/is-ancestor.ts';
import { runGit } from '../git/run-git.ts';
import { ApiError } from '../http/api-error.ts';
import { readSavedState } from '../projects/saved-state.ts';

const format = '%H%n%P%n%an%n%ae%n%at%n%B';

/** `<newest commit of the first page>.<how many came before>`: pages stay as they are while commits are added. */
const cursorForm = /^([0-9a-f]{40})\.(\d{1,9})$/;

interface Page {
  commits: ListedCommit[];
  next_cursor: string | null;
}

export async function listCommits(
  repository: GitRepository,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<Page> {
  const { start, skip } = await startOf(repository, cursor);
  if (start === undefined) return { commits: [], next_cursor: null };
  const args = ['log', '-z', '--topo-order', `--format=${format}`, `--skip=${skip}`, `-n${limit + 1}`];
  const { stdout } = await runGit(repository.git, [...args, start, '--'], { gitDir: repository.gitDir });
  const records = stdout
    .toString()
    .split('\0')
    .filter((record) => record !== '');
  const hasMore = records.length > limit;
  return {
    commits: records.slice(0, limit).map(parseCommit),
    next_cursor: hasMore ? `${start}.${skip + limit}` : null,
  };
}

function parseCommit(record: string): ListedCommit {
  const [hash = '', parents = '', name = '', email = '', seconds = '', ...message] = record.split('\n');
  return {
    hash,
    parents: parents === '' ? [] : parents.split(' '),
    author: { name, email },
    created_at: Math.max(0, Number(seconds) * 1000),
    message: message.join('\n').trim(),
  };
}

async function startOf(
  repository: GitRepository,
  cursor: string | undefined,
): Promise<{ start: string | undefined; skip: number }> {
  const { head } = await readSavedState(repository);
  if (cursor === undefined) return { start: head, skip: 0 };
  const [, start = '', skip = ''] = cursorForm.exec(cursor) ?? [];
  if (start === '' || !(await isAncestor(repository, { older: start, newer: head })))
    throw ApiError.of('invalid_request', {
      problem: 'Query parameter cursor is not one that this list gave: start without it',
    });
  return { start, skip: Number(skip) };
}

import type { ListedCommit } from '@phalanx/protocol';

import type { GitObjects } from '../git/git-objects.ts';
import { isAncestor } from '../git/is-ancestor.ts';
import { runGit } from '../git/run-git.ts';
import { ApiError } from '../errors/api-error.ts';
import type { SavedState } from '../projects/saved-state.ts';

const format = '%H%n%P%n%an%n%ae%n%at%n%B';

/** Of the messages of one page; it ends sooner when they are long. */
const maxPageBytes = 1024 * 1024;

/** `<newest commit of the first page>.<how many came before>`: pages stay as they are while commits are added. */
const cursorForm = /^([0-9a-f]{40})\.(\d{1,9})$/;

interface Page {
  commits: ListedCommit[];
  next_cursor: string | null;
}

export async function listCommits(
  repository: GitObjects,
  { head }: SavedState,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<Page> {
  const { start, skip } = await startOf(repository, head, cursor);
  if (start === undefined) return { commits: [], next_cursor: null };
  const args = ['log', '-z', '--topo-order', `--format=${format}`, `--skip=${skip}`, `-n${limit + 1}`];
  const { stdout, isCut } = await runGit(repository.git, [...args, start, '--'], {
    gitDir: repository.gitDir,
    maxBytes: maxPageBytes,
  });
  const records = stdout
    .toString()
    .split('\0')
    .filter((record) => record !== '');
  // The last one may be half a commit; a first one that is longer than a page is shown as far as it goes.
  const shown = Math.min(limit, Math.max(isCut ? records.length - 1 : records.length, 1));
  const hasMore = isCut || records.length > limit;
  return {
    commits: records.slice(0, shown).map(parseCommit),
    next_cursor: hasMore ? `${start}.${skip + shown}` : null,
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
  repository: GitObjects,
  head: string | undefined,
  cursor: string | undefined,
): Promise<{ start: string | undefined; skip: number }> {
  if (cursor === undefined) return { start: head, skip: 0 };
  const [, start = '', skip = ''] = cursorForm.exec(cursor) ?? [];
  if (start === '' || !(await isAncestor(repository, { older: start, newer: head })))
    throw ApiError.of('invalid_request', {
      problem: 'Query parameter cursor is not one that this list gave: start without it',
    });
  return { start, skip: Number(skip) };
}

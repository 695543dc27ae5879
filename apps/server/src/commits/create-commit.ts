import type { GitRepository } from '../git/git-repository.ts';
import { runGit } from '../git/run-git.ts';

export interface CommitContent {
  readonly tree: string | undefined;
  readonly parent: string | undefined;
  readonly message: string;
  readonly author: { readonly userId: string; readonly userName: string };
  /** Epoch milliseconds. */
  readonly time: number;
}

/** Git takes no empty name, and none of these characters in one. */
function authorName({ userId, userName }: CommitContent['author']): string {
  // oxlint-disable-next-line no-control-regex
  const name = userName.replaceAll(/[<>\u0000-\u001F\u007F]/g, ' ').trim();
  // Git drops these at both ends, and refuses a name of which nothing is left.
  return name.replaceAll(/^[.,:;"'\\\s]+|[.,:;"'\\\s]+$/g, '') === '' ? `user ${userId}` : name;
}

/** Stores a commit, which nothing refers to yet, and returns its hash. */
export async function createCommit(repository: GitRepository, content: CommitContent): Promise<string> {
  const { parent, author } = content;
  const name = authorName(author).toWellFormed();
  // ".invalid" is promised to belong to nobody.
  const email = `${author.userId}@phalanx.invalid`;
  const date = `${Math.floor(content.time / 1000)} +0000`;
  // A project without files has its tree nowhere yet.
  const tree = content.tree ?? (await repository.writeTree(new Map()));
  const { stdout } = await runGit(
    repository.git,
    ['commit-tree', tree, ...(parent === undefined ? [] : ['-p', parent]), '-F', '-'],
    {
      gitDir: repository.gitDir,
      input: `${content.message}\n`,
      environment: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_DATE: date,
      },
    },
  );
  return stdout.toString().trim();
}

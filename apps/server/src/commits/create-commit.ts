import type { GitRepository } from '../git/git-repository.ts';

export interface CommitContent {
  readonly tree: string | undefined;
  readonly parent: string | undefined;
  readonly message: string;
  readonly author: { readonly userId: string; readonly userName: string };
  /** Epoch milliseconds. */
  readonly time: number;
}

/** Git takes no empty name, none of these characters in one, and drops others at both ends. */
function authorName({ userId, userName }: CommitContent['author']): string {
  // oxlint-disable-next-line no-control-regex
  const name = userName.toWellFormed().replaceAll(/[<>\u0000-\u001F\u007F]/g, ' ');
  return name.replaceAll(/^[.,:;"'\\\s]+|[.,:;"'\\\s]+$/g, '') || `user ${userId}`;
}

/** Stores a commit, which nothing refers to yet, and returns its hash. */
export async function createCommit(repository: GitRepository, content: CommitContent): Promise<string> {
  const { parent, author } = content;
  // ".invalid" is promised to belong to nobody.
  const who = `${authorName(author)} <${author.userId}@phalanx.invalid> ${Math.floor(content.time / 1000)} +0000`;
  // A project without files has its tree nowhere yet.
  const tree = content.tree ?? (await repository.writeTree(new Map()));
  const head = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${who}`,
    `committer ${who}`,
  ];
  // The form of a commit object, as `git cat-file -p` shows it. Written by a git that is kept open: starting one for
  // each commit costs more than all the rest, and stops the event loop meanwhile.
  return repository.writeCommit(`${head.join('\n')}\n\n${content.message}\n`);
}

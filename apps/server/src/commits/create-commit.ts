import type { Draft } from '../git/draft.ts';

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
export function createCommit(draft: Draft, content: CommitContent): string {
  const { parent, author } = content;
  // ".invalid" is promised to belong to nobody.
  const who = `${authorName(author)} <${author.userId}@phalanx.invalid> ${Math.floor(content.time / 1000)} +0000`;
  // A project without files has its tree nowhere yet.
  const tree = content.tree ?? draft.writeTree(new Map());
  const head = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${who}`,
    `committer ${who}`,
  ];
  // The form of a commit object, as `git cat-file -p` shows it.
  return draft.writeCommit(`${head.join('\n')}\n\n${content.message}\n`);
}

import { noObject } from '../git/git-repository.ts';

/** One ref that a push wants to move. */
export interface PushedRef {
  readonly before: string;
  readonly after: string;
  readonly name: string;
}

export const mainBranch = 'refs/heads/main';

export const isDeletion = (ref: PushedRef): boolean => ref.after === noObject;

/** A line such as `<old> <new> refs/heads/main`. */
export function parsePushedRef(line: string): PushedRef {
  const [, before = '', after = '', name = ''] = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)/.exec(line) ?? [];
  if (name === '') throw new Error('git named no ref');
  return { before, after, name };
}

/** Why this ref can't be pushed at all, whatever it points to. */
export function findRefProblem(ref: PushedRef): string | undefined {
  if (!/^refs\/(?:heads|tags)\//.test(ref.name))
    return `${ref.name} is neither a branch nor a tag: only these can be pushed.`;
  if (ref.name === mainBranch && isDeletion(ref)) return 'main can not be deleted: the project stands on it.';
  return undefined;
}

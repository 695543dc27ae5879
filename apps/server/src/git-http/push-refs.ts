import { noObject } from '../git/git-objects.ts';

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

/** What git's own check of names refuses; it does not look at what the server moves itself. */
const notInName = /\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$|[\s~^:?*[\\]/;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0020\u007F]/;

const isRefName = (name: string): boolean => !notInName.test(name) && !controls.test(name);

/** Why this ref can't be pushed at all, whatever it points to. */
export function findRefProblem(ref: PushedRef): string | undefined {
  if (!/^refs\/(?:heads|tags)\//.test(ref.name))
    return `${ref.name} is neither a branch nor a tag: only these can be pushed.`;
  if (!isRefName(ref.name)) return `${ref.name} is no name that git allows.`;
  if (ref.name === mainBranch && isDeletion(ref)) return 'main can not be deleted: the project stands on it.';
  return undefined;
}

import type { Commit } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import { keepCompiled } from '../projects/compiled-trees.ts';
import type { ProjectRepositories } from '../projects/project-repositories.ts';
import { isDirty } from '../projects/saved-state.ts';
import { createCommit, type CommitContent } from './create-commit.ts';

interface CommitRequest extends Pick<CommitContent, 'message' | 'author' | 'time'> {
  projectId: string;
}

/** Makes the saved files the newest commit. Durable when it resolves. Throws `nothing_to_commit`. */
export function commitChanges(
  repositories: ProjectRepositories,
  { projectId, message, author, time }: CommitRequest,
): Promise<Commit> {
  return repositories.write(projectId, async (draft, change) => {
    const { state } = change;
    if (!(await isDirty(draft, state))) throw ApiError.of('nothing_to_commit', {});
    const content = { tree: state.files, parent: state.head, message, author, time };
    const hash = createCommit(draft, content);
    keepCompiled(change, state);
    change.save({ ...state, head: hash });
    return { hash, message };
  });
}

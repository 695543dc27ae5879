import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import type { StoredRun } from './stored-run.ts';

/** The run, when the caller may see it; `id` is how they named it. */
export function requireVisible<Run extends Pick<StoredRun, 'user_id' | 'automation_id'>>(
  run: Run | undefined,
  { userId, projectIds }: Principal,
  id: string,
): Run {
  if (run?.user_id === userId && projectIds?.has(run.automation_id) !== false) return run;
  throw ApiError.of('run_not_found', { run_id: id });
}

import { ApiError } from '../http/api-error.ts';

/** What a caller is told whose code does not compile. */
export function compileRefusal(errors: readonly string[]): ApiError {
  const summary = (errors[0] ?? 'unknown mistake').replace(/\.$/, '');
  return ApiError.of('compile_failed', { summary }, { errors });
}

import { ApiError } from '../http/api-error.ts';

/** What was compiled; throws what a caller is told whose code does not compile. */
export function requireCompiled<Compiled extends { ok: true }>(
  result: Compiled | { ok: false; errors: string[] },
): Compiled {
  if (result.ok) return result;
  const { errors } = result;
  throw ApiError.of('compile_failed', { summary: summaryOf(errors) }, { errors });
}

/** The first line, to stand within a sentence. */
export const summaryOf = ([first = 'unknown mistake']: readonly string[]): string => first.replace(/\.$/, '');

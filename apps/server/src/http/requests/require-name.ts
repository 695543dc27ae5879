import { ApiError } from '../../kernel/errors/api-error.ts';

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

function findProblem(name: string): string | undefined {
  if (controlCharacter.test(name)) return 'must not contain control characters';
  return name.isWellFormed() ? undefined : 'must be valid Unicode';
}

/** Returns a readable name without surrounding white space. Throws `invalid_request`. */
export function requireName(text: string): string {
  const name = requireNameOrNone(text);
  if (name !== '') return name;
  throw ApiError.of('invalid_request', { problem: 'Field name must not be empty' });
}

/** Returns a readable name, which may be empty. Throws `invalid_request`. */
export function requireNameOrNone(text: string): string {
  const name = text.trim();
  const problem = findProblem(name);
  if (problem === undefined) return name;
  throw ApiError.of('invalid_request', { problem: `Field name ${problem}` });
}

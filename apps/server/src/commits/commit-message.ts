import { ApiError } from '../http/api-error.ts';

const maxLength = 1000;
// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

function findProblem(message: string): string | undefined {
  if (message === '') return 'must not be empty: say what has changed';
  const length = [...message].length;
  if (length > maxLength) return `has ${length} characters; at most ${maxLength} are allowed`;
  if (!message.isWellFormed()) return 'must be valid Unicode: it has half of a surrogate pair';
  if (controlCharacter.test(message))
    return 'must not contain control characters other than line breaks and tabs';
  return undefined;
}

/** Without the white space around it, with line ends as git has them. Throws for what is no commit message. */
export function requireMessage(text: string): string {
  const message = text.replaceAll(/\r\n?/g, '\n').trim();
  const problem = findProblem(message);
  if (problem !== undefined) throw ApiError.of('invalid_request', { problem: `Field message ${problem}` });
  return message;
}

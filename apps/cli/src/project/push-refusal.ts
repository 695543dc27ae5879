import { ApiRefusal } from '../api-client.ts';
import { LocalPathError } from './local-path.ts';

/** Refusals that concern the caller or the project stop a push; what concerns a file does not. */
export function isAboutOneFile(error: unknown): error is ApiRefusal | LocalPathError {
  if (error instanceof LocalPathError) return true;
  return error instanceof ApiRefusal && (error.status === 400 || error.status === 413);
}

export const reasonsOf = (error: ApiRefusal | LocalPathError): readonly string[] =>
  error instanceof ApiRefusal && error.errors.length > 0 ? error.errors : [error.message];

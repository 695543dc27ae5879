import { SettingError } from '@phalanx/settings';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';

const problems: Record<string, string> = {
  EADDRINUSE: 'is taken by another program: stop it, or choose another address',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is not the name of a machine',
  EAI_AGAIN: 'is a name that cannot be looked up at present: give an IP address',
  EAFNOSUPPORT: 'is of a kind that this machine does not support',
  EINVAL: 'is not an address to listen on',
  EACCES: 'may not be used by this user: choose a port above 1023',
};

/** System calls of listening, because files have errors of the same codes. */
const syscalls: readonly unknown[] = ['listen', 'bind', 'getaddrinfo'];

/** Explains why the server can't listen, in words that say what to do; returns other errors as they are. */
export function explainListenError(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const isOfListening = error instanceof Error && 'syscall' in error && syscalls.includes(error.syscall);
  const problem = isOfListening ? problems[errorCodeOf(error)] : undefined;
  if (problem === undefined) return error;
  return new SettingError(`PHALANX_LISTEN ${host}:${port} ${problem}`, { cause: error });
}

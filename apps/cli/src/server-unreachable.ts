/** Nothing that is a Phalanx server answered; the message says at which address, and what to do. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  TimeoutError: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks http, not https',
  HPE_INVALID_CONSTANT: 'what answers does not speak HTTP',
};

/** `fetch` hides why it failed in causes, and with several addresses in a list of errors. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return error.name;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.cause !== undefined) return codeOf(error.cause);
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.message;
}

export function unreachable(url: string, error: unknown): ServerUnreachable {
  const code = codeOf(error);
  const reason = reasons[code] ?? code;
  return new ServerUnreachable(
    `The server at ${url} cannot be reached (${reason}): start it, or give its address with --server-url or PHALANX_SERVER_URL.`,
  );
}

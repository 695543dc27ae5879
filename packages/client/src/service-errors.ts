import type { DeviceOutcome, ErrorCode } from '@phalanx/protocol';

/** Body of a refusal, as sent by the service. */
interface FailureBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly errors?: readonly string[];
  readonly devices?: readonly DeviceOutcome[];
}

/** Thrown when the service refuses a request, with its own message. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  /** Code of the failure; docs/errors.md lists them all. */
  readonly code: ErrorCode;
  /** Errors of a compiler; empty for other failures. */
  readonly errors: readonly string[];
  /** Result of a launch or a stop on each device; empty for other failures. */
  readonly devices: readonly DeviceOutcome[];
  /** ID by which the operator finds the request in the log. */
  readonly requestId: string | undefined;
  /** Backoff that the service requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(body: FailureBody, { status, headers }: Pick<Response, 'status' | 'headers'>) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.errors = body.errors ?? [];
    this.devices = body.devices ?? [];
    this.requestId = headers.get('x-request-id') ?? undefined;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

/** Thrown when no response arrived. The service may have executed the request. */
export class ServiceUnreachable extends Error {
  override readonly name: string = 'ServiceUnreachable';
}

/** Descriptions of Node's network errors. A browser does not report why a request failed. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  TimeoutError: 'it does not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks http, not https',
  HPE_INVALID_CONSTANT: 'what answers does not speak HTTP',
};

/** Returns the error for a request that failed with `cause`. `url` is empty on a page of the service itself. */
export function unreachable(url: string, cause: unknown): ServiceUnreachable {
  if (url === '') return new ServiceUnreachable('The service does not answer.', { cause });
  const code = codeOf(cause);
  return new ServiceUnreachable(`The service at ${url} cannot be reached (${reasons[code] ?? code}).`, {
    cause,
  });
}

/** Returns the code of a failed `fetch`, which is nested in causes and, with several addresses, in a list of errors. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return error.name;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.cause !== undefined) return codeOf(error.cause);
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.message;
}

/** Thrown when the response comes from something other than the service: a proxy, or another program at its address. */
export class NotTheService extends Error {
  override readonly name: string = 'NotTheService';
  readonly status: number;
  /** Target of a redirect. */
  readonly location: string | undefined;

  constructor(url: string, { status, headers }: Pick<Response, 'status' | 'headers'>) {
    const isRedirect = status >= 300 && status < 400;
    const location = isRedirect ? (headers.get('location') ?? undefined) : undefined;
    super(
      location === undefined
        ? `What answers at ${url} is not a Phalanx service (HTTP status ${status}).`
        : `The service at ${url} redirects callers to ${location}.`,
    );
    this.status = status;
    this.location = location;
  }
}

const isFailureBody = (body: unknown): body is FailureBody =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'message' in body &&
  typeof body.message === 'string';

/** Returns the error for an unsuccessful response of the service at `url`. */
export async function failureOf(url: string, response: Response): Promise<ServiceError | NotTheService> {
  const body: unknown = await response.json().catch(() => undefined);
  return isFailureBody(body) ? new ServiceError(body, response) : new NotTheService(url, response);
}

import type { DeviceOutcome, ErrorCode } from '@phalanx/protocol';

/** What is wrong, in the words of the service. */
interface FailureBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly errors?: readonly string[];
  readonly devices?: readonly DeviceOutcome[];
}

/** The service said no. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  /** Which failure it is; docs/reference.md lists them all. */
  readonly code: ErrorCode;
  /** Lines of a compiler; empty for other failures. */
  readonly errors: readonly string[];
  /** What a launch or a stop came to on each device; empty for other failures. */
  readonly devices: readonly DeviceOutcome[];
  /** Its operator finds the request in the log by this. */
  readonly requestId: string | undefined;
  /** How long the service wants not to be asked again. */
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

/** No answer came. What was asked for may have been done. */
export class ServiceUnreachable extends Error {
  override readonly name: string = 'ServiceUnreachable';
}

/** What answered is not the service: a proxy, or another program at its address. */
export class NotTheService extends Error {
  override readonly name: string = 'NotTheService';
  readonly status: number;
  /** Where it sends callers. */
  readonly location: string | undefined;

  constructor({ status, headers, url }: Pick<Response, 'status' | 'headers' | 'url'>) {
    super(`What answers at ${url} is not a Phalanx service (HTTP status ${status}).`);
    this.status = status;
    this.location = headers.get('location') ?? undefined;
  }
}

const isFailureBody = (body: unknown): body is FailureBody =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'message' in body &&
  typeof body.message === 'string';

/** What a response that is no success says. */
export async function failureOf(response: Response): Promise<ServiceError | NotTheService> {
  const body: unknown = await response.json().catch(() => undefined);
  return isFailureBody(body) ? new ServiceError(body, response) : new NotTheService(response);
}

/** Whether the same may succeed in a moment without anybody doing anything. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceUnreachable ||
  (error instanceof NotTheService && error.status >= 500) ||
  (error instanceof ServiceError && (error.status >= 500 || error.status === 429));

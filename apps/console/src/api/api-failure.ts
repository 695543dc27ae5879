import type { DeviceOutcome, ErrorCode } from '@phalanx/protocol';

/** `unreachable`: no answer came; `unreadable`: what came is not the service's. */
type FailureCode = ErrorCode | 'unreachable' | 'unreadable';

interface FailureBody {
  code: FailureCode;
  message: string;
  errors?: readonly string[];
  devices?: readonly DeviceOutcome[];
}

/** A call that did not succeed, in words for people. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: FailureCode;
  /** Compiler lines. */
  readonly errors: readonly string[];
  readonly devices: readonly DeviceOutcome[];
  readonly requestId: string | undefined;

  constructor(status: number, body: FailureBody, requestId?: string) {
    super(body.message);
    this.name = 'ApiFailure';
    this.status = status;
    this.code = body.code;
    this.errors = body.errors ?? [];
    this.devices = body.devices ?? [];
    this.requestId = requestId;
  }

  static async from(response: Response): Promise<ApiFailure> {
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const body: unknown = await response.json().catch(() => undefined);
    if (isFailureBody(body)) return new ApiFailure(response.status, body, requestId);
    const message = `The service answered ${response.status} without a reason.`;
    return new ApiFailure(response.status, { code: 'unreadable', message }, requestId);
  }

  static unreachable(): ApiFailure {
    return new ApiFailure(0, { code: 'unreachable', message: 'The service does not answer.' });
  }
}

const isFailureBody = (body: unknown): body is FailureBody =>
  typeof body === 'object' && body !== null && 'code' in body && 'message' in body;

/** Whether asking again may help without anybody doing anything. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 0 || error.status >= 500);

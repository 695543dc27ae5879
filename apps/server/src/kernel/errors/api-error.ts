import {
  errorMessage,
  errorTable,
  type DeviceOutcome,
  type ErrorCode,
  type ErrorDetails,
} from '@phalanx/protocol';

interface ApiErrorOptions {
  /** Lines of the compiler, which are shown to the caller. */
  errors?: readonly string[];
  /** Outcome of the failure for each device. */
  devices?: readonly DeviceOutcome[];
  /** Delay before a retry, in seconds. */
  retryAfterS?: number;
  /** Cause for the service's log; callers do not see it. */
  cause?: unknown;
}

/** An expected failure: a row of the error table with its details for the caller. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: readonly string[] | undefined;
  readonly devices: readonly DeviceOutcome[] | undefined;
  readonly retryAfterS: number | undefined;

  private constructor(code: ErrorCode, message: string, options: ApiErrorOptions) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = errorTable[code].status;
    this.errors = options.errors;
    this.devices = options.devices;
    this.retryAfterS = options.retryAfterS;
  }

  /** Returns the same failure, with its outcome for each device. */
  withDevices(devices: readonly DeviceOutcome[]): ApiError {
    return new ApiError(this.code, this.message, {
      ...(this.errors !== undefined && { errors: this.errors }),
      ...(this.retryAfterS !== undefined && { retryAfterS: this.retryAfterS }),
      cause: this.cause,
      devices,
    });
  }

  static of<Code extends ErrorCode>(
    code: Code,
    details: ErrorDetails<Code>,
    options: ApiErrorOptions = {},
  ): ApiError {
    return new ApiError(code, errorMessage(code, details), options);
  }
}

/** Returns the JSON body of the reply to a request that failed with `error`. */
export function errorBody(error: ApiError): Record<string, unknown> {
  return {
    success: false,
    code: error.code,
    message: error.message,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.devices === undefined ? {} : { devices: error.devices }),
  };
}

/** The `code` of an error of the system, of SQLite or of Fastify, such as `ENOENT`; empty for any other. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

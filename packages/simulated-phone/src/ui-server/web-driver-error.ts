const statusCodes = {
  'invalid argument': 400,
  'invalid element state': 400,
  'invalid selector': 400,
  'invalid session id': 404,
  'no such alert': 404,
  'no such element': 404,
  'stale element reference': 404,
  'unable to capture screen': 500,
  'unknown command': 404,
  'unknown error': 500,
} as const;

export type WebDriverErrorCode = keyof typeof statusCodes;

/** Failed command; the reply has the format of the W3C WebDriver specification. */
export class WebDriverError extends Error {
  override readonly name = 'WebDriverError';
  readonly code: WebDriverErrorCode;
  /** Underlying Java exception, which the real server reports only in the stack trace. */
  readonly javaCause: string | undefined;

  constructor(code: WebDriverErrorCode, message: string, javaCause?: string) {
    super(message);
    this.javaCause = javaCause;
    this.code = code;
  }

  get statusCode(): number {
    return statusCodes[this.code];
  }
}

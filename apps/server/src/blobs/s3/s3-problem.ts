import { SettingError } from '@phalanx/settings';

import { errorCodeOf } from '../../errors/error-code.ts';
import { findFault, PartFailed, s3Failed } from '../../faults/fault.ts';

/** What the storage has answered instead of doing what it was asked. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly status: number;
  /** Such as `NoSuchKey`; empty when the answer has none. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(`the S3 storage answered ${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

/** No answer has come in time. */
export class S3Silence extends Error {
  override readonly name = 'S3Silence';

  constructor() {
    super('the S3 storage did not answer in time');
  }
}

/** Whether the same may well work a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Refusal)) return true;
  return error.status >= 500 || error.status === 429 || error.code === 'RequestTimeout';
}

/** By the codes of S3. */
const refusals: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket is not there',
  InvalidAccessKeyId: 'it does not know the access key',
  SignatureDoesNotMatch: 'the secret key is wrong',
  AccessDenied: 'it does not allow this to the access key',
  RequestTimeTooSkewed: 'its clock and that of this machine are too far apart',
  AuthorizationHeaderMalformed: 'the region is another one',
  PermanentRedirect: 'the bucket is in another region',
  QuotaExceeded: 'there is no room left in the bucket',
};

/** By the codes of the system. */
const silences: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'the name of its machine is unknown',
  EAI_AGAIN: 'the name of its machine can not be looked up now',
  EHOSTUNREACH: 'there is no way to its machine',
  ENETUNREACH: 'there is no way to its machine',
};

const cuts = ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Undefined: it is a mistake of ours. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof S3Silence) return 'it does not answer in time';
  if (error instanceof S3Refusal)
    return (
      refusals[error.code] ?? (error.status >= 500 ? 'it reports errors' : 'it refuses what it is asked')
    );
  const code = errorCodeOf(error);
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) return 'its certificate is not accepted';
  return silences[code] ?? (cuts.includes(code) ? 'the connection was cut' : undefined);
}

/** As a fault of the storage; that of another part, and a mistake of ours, are left as they are. */
export function asFault(error: unknown): unknown {
  const reason = findFault(error) === undefined ? reasonOf(error) : undefined;
  return reason === undefined ? error : s3Failed(reason, error);
}

/** Whether the storage has answered, and a setting has to be mended. */
export function isRefused(error: unknown): boolean {
  const cause = error instanceof PartFailed ? error.cause : error;
  return cause instanceof S3Refusal && !isPassing(cause);
}

/** What keeps a program from using the storage, as one line; any other error is returned as it is. */
export function explainS3(error: unknown): unknown {
  const fault = findFault(error);
  if (error instanceof SettingError || fault?.part !== 's3') return error;
  return new SettingError(
    `The S3 storage can not be used: ${fault.reason}. Look at the settings that begin with PHALANX_S3.`,
    { cause: error },
  );
}

import type { ErrorCode } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import type { LaunchOutcome } from './dispatch.ts';

/** The reply to a launch, as it is stored, so that the same request gets it again. */
export type LaunchAnswer = { message: string } | { refusal: Record<'missing' | 'started', string> };

const ackSeconds = (timeoutMs: number): number => timeoutMs / 1000;
const count = (devices: number): string => `${devices} device${devices === 1 ? '' : 's'}`;

export function answerOf({ started, missing }: LaunchOutcome): LaunchAnswer {
  if (missing.length === 0) return { message: `Started on ${count(started.length)}.` };
  return {
    refusal: {
      missing: missing.map(({ deviceId, reason }) => `${deviceId} (${reason})`).join('; '),
      started: started.length === 0 ? 'none' : started.join(', '),
    },
  };
}

const refusalCode: ErrorCode & 'launch_not_acknowledged' = 'launch_not_acknowledged';

/** `json` is what was stored of an answer. */
export function readAnswer(json: string): LaunchAnswer {
  // Nobody else writes the column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as LaunchAnswer;
}

/** The message of a success; a refusal is thrown. */
export function deliver(answer: LaunchAnswer, ackTimeoutMs: number): string {
  if ('message' in answer) return answer.message;
  throw ApiError.of(refusalCode, { seconds: ackSeconds(ackTimeoutMs), ...answer.refusal });
}

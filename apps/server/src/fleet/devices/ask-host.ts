import {
  type AppLimit,
  appRefusalStart,
  type ErrorCode,
  type HostTouchType,
  type PhoneInput,
  TouchedWindow,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { ApiError } from '../../kernel/errors/api-error.ts';
import { findExcess } from '../../http/requests/bodies/json-bounds.ts';
import type { HostQuestion } from '../hosts/host-link.ts';
import type { ConnectedHosts, TouchFor } from '../hosts/connected-hosts.ts';
import type { FleetDevice } from './fleet-device.ts';
import type { LeaseClaimant } from './leases/leases.ts';

/** Error codes for requests that a host or its phone failed to fulfill. */
type HostFailureCode = Extract<ErrorCode, 'host_request_failed' | 'screen_failed' | 'screenshot_failed'>;

/** Phone that a question is about, and the hosts to send it through. */
export interface Asked {
  readonly hosts: Pick<ConnectedHosts, 'ask'>;
  readonly device: FleetDevice;
  /** App limit of the caller's token, if it has one. */
  readonly appLimit: AppLimit | undefined;
}

type Ask = <Question extends HostQuestion>(
  question: Question,
  ...touch: TouchFor<Question['type']>
) => Promise<Buffer>;
type QuestionOfLooks = Exclude<HostQuestion, { type: HostTouchType }>;

/**
 * Asks the host of a phone. Throws `device_offline` when the host is not connected, `app_not_allowed` when the app
 * limit forbids the request, and `failureCode` when the host fails to answer.
 */
export async function askHost<Answer>(
  { hosts, device: { id, epoch, reason }, appLimit }: Asked,
  failureCode: HostFailureCode,
  inquire: (ask: Ask) => Promise<Answer>,
): Promise<Answer> {
  if (epoch === null) throw ApiError.of('device_offline', { device_id: id, reason });
  try {
    const limit = appLimit === undefined ? {} : { app_limit: appLimit };
    return await inquire((question, ...touch) => hosts.ask(epoch, { ...question, ...limit }, ...touch));
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    if (why.startsWith(appRefusalStart)) {
      const refusal = why.slice(appRefusalStart.length).replace(/\.$/, '');
      throw ApiError.of('app_not_allowed', { device_id: id, reason: refusal });
    }
    throw ApiError.of(failureCode, { device_id: id, reason: why.replace(/\.$/, '') }, { cause: error });
  }
}

interface AnswerCheck<Answer> {
  Check: (value: unknown) => value is Answer;
}

/** Parses the JSON answer of a host. Throws a user-facing message when it is too large or does not match the schema. */
export function readAnswer<Answer>(answer: Buffer, validator: AnswerCheck<Answer>): Answer {
  const excess = findExcess(answer);
  if (excess !== undefined) throw new Error(`the answer of its host ${excess}`);
  const value: unknown = JSON.parse(answer.toString());
  if (validator.Check(value)) return value;
  throw new Error('its host gave an unexpected answer');
}

/** Asks a host for JSON and validates the answer against its schema. */
export const askForJson = <Answer>(
  asked: Asked,
  question: QuestionOfLooks,
  validator: AnswerCheck<Answer>,
): Promise<Answer> =>
  askHost(asked, 'host_request_failed', async (ask) => readAnswer(await ask(question), validator));

interface WantedInput {
  readonly input: PhoneInput;
  readonly tellWindow: boolean;
  /** Whether the answer waits until the screen is at rest. */
  readonly settle: boolean;
}

const touchedWindow = Compile(Type.Union([TouchedWindow, Type.Null()]));

/**
 * Resolves when the device has performed the input, with the touched window if `tellWindow` is set. The server of its
 * host checks that no other user has leased the device.
 */
export const doInput = (
  asked: Asked,
  { input, tellWindow, settle }: WantedInput,
  claimant: LeaseClaimant,
): Promise<TouchedWindow | null> =>
  askHost(asked, 'host_request_failed', async (ask) => {
    const { id, serial } = asked.device;
    const answer = await ask(
      { type: 'input', serial, input, tell_window: tellWindow, settle },
      { deviceId: id, ...claimant },
    );
    // Hosts of earlier releases send an empty answer.
    if (!tellWindow || answer.length === 0) return null;
    return readAnswer(answer, touchedWindow);
  });

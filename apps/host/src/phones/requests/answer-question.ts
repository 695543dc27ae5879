import {
  appRefusalStart,
  type HostQuestionOf,
  type HostQuestionType,
  type PhoneApps,
  type PhoneEvent,
  type PhoneHealth,
} from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import { DriverError } from '../../driver/driver-error.ts';
import type { Phone } from '../phone.ts';
import type { PhoneWatch } from '../watch-phones.ts';
import { doActSteps } from './act/act-steps.ts';
import type { AnswerContext } from './answer-context.ts';
import { takeFile } from './file-taker.ts';
import { inspectNode } from './inspect-node.ts';
import { doInput } from './input-doer.ts';
import { nextLiveFrame, nextVideoPackets } from './live-camera.ts';
import { readScreen } from './screen-reader.ts';
import { nextWallFrame } from './wall-camera.ts';

const timeoutMs = 15_000;
const screenshotWidth = 1080;

type PhoneQuestion = Exclude<HostQuestionType, 'replay' | 'pairing'>;

type Answer<Name extends PhoneQuestion> = (
  phone: Phone,
  question: HostQuestionOf<Name>,
  context: AnswerContext,
) => Promise<Buffer>;

/** One row a question of the protocol (`hostQuestions`) about a phone: it resolves with the payload, and rejects with the reason. */
const answers: { readonly [Name in PhoneQuestion]: Answer<Name> } = {
  screenshot: async (phone, { app_limit }, { signal }) => {
    const wanted = { format: 'jpeg', maxWidth: screenshotWidth } as const;
    const { base64 } = await phone.driver().limitedTo(app_limit).call('screen.screenshot', wanted, signal);
    return Buffer.from(base64, 'base64');
  },
  screen: readScreen,
  health: tellHealth,
  live: nextLiveFrame,
  video: nextVideoPackets,
  wall: nextWallFrame,
  input: doInput,
  clipboard: async (phone, { app_limit }, { signal }) => {
    const text = await phone.driver().limitedTo(app_limit).call('clipboard.read', {}, signal);
    return Buffer.from(JSON.stringify({ text }));
  },
  file: takeFile,
  act: doActSteps,
  node: inspectNode,
  apps: async (phone, { app_limit }, { signal }) => {
    const installed = await phone.driver().limitedTo(app_limit).call('app.list', {}, signal);
    const apps: PhoneApps = installed
      .map(({ packageName, isSystem }) => ({ package_name: packageName, is_system: isSystem }))
      .toSorted((one, other) => (one.package_name < other.package_name ? -1 : 1));
    return Buffer.from(JSON.stringify(apps));
  },
};

interface AnswerOptions {
  readonly phones: PhoneWatch;
  readonly connection: ServerConnection;
  readonly clock: ServiceClock;
  readonly mayChangeApps: boolean;
  readonly log: Logger;
}

/** Answers a question of the server about a phone, or says why there is no answer. */
export async function answerQuestion<Name extends PhoneQuestion>(
  question: HostQuestionOf<Name>,
  { phones, connection, clock, mayChangeApps, log }: AnswerOptions,
): Promise<void> {
  const { type, request_id, serial } = question;
  try {
    const phone = phones.find(serial);
    if (phone === undefined) throw new Error(`The phone ${serial} is not connected to this host`);
    const answer = await answers[type](phone, question, {
      ...{ clock, mayChangeApps, signal: AbortSignal.timeout(timeoutMs) },
    });
    connection.sendFrame({ type, request_id }, answer);
  } catch (error) {
    log.debug({ serial, err: error }, `No ${type}`);
    const isRefused = error instanceof DriverError && error.code === 'app_not_allowed';
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${isRefused ? appRefusalStart : ''}${reason}`.slice(0, 2000);
    connection.send({ type: 'request_failed', request_id, message });
  }
}

/** JSON of a `PhoneHealth`, in the service's time. */
async function tellHealth(
  { facts, history }: Phone,
  _question: HostQuestionOf<'health'>,
  { clock }: AnswerContext,
): Promise<Buffer> {
  const inServiceTime = (event: PhoneEvent): PhoneEvent => ({ ...event, at: clock.toService(event.at) });
  const health: PhoneHealth = {
    facts: facts && { ...facts, sampled_at: clock.toService(facts.sampled_at) },
    last_repair: history.lastRepair && inServiceTime(history.lastRepair),
    events: history.list().map(inServiceTime),
  };
  return Buffer.from(JSON.stringify(health));
}

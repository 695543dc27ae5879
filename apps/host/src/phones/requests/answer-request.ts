import type { Logger } from 'pino';

import type { ServerConnection } from '../../connection/server-connection.ts';
import type { Phone } from '../phone.ts';
import type { PhoneWatch } from '../watch-phones.ts';

const timeoutMs = 15_000;

export interface PhoneRequest {
  readonly request_id: string;
  readonly serial: string;
}

export interface AnswerOptions {
  readonly phones: PhoneWatch;
  readonly connection: ServerConnection;
  readonly log: Logger;
}

/** Answers a question of the server about a phone: with what `ask` gives, or with the reason why there is nothing. */
export async function answerRequest(
  {
    type,
    request_id,
    serial,
  }: PhoneRequest & { type: 'screenshot' | 'screen' | 'health' | 'live' | 'input' },
  { phones, connection, log }: AnswerOptions,
  ask: (phone: Phone, signal: AbortSignal) => Promise<Buffer>,
): Promise<void> {
  try {
    const phone = phones.find(serial);
    if (phone === undefined) throw new Error(`The phone ${serial} is not connected to this host`);
    const answer = await ask(phone, AbortSignal.timeout(timeoutMs));
    connection.sendFrame({ type, request_id }, answer);
  } catch (error) {
    log.debug({ serial, err: error }, `No ${type}`);
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 2000);
    connection.send({ type: 'request_failed', request_id, message });
  }
}

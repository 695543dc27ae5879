import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import type { PhoneWatch } from './watch-phones.ts';

const maxWidth = 1080;
const timeoutMs = 15_000;

/** Answers one `screenshot` of the server, with a picture or with the reason why there is none. */
export async function answerScreenshot(
  request: { request_id: string; serial: string },
  { phones, connection, log }: { phones: PhoneWatch; connection: ServerConnection; log: Logger },
): Promise<void> {
  const { request_id, serial } = request;
  try {
    const picture = await takeScreenshot(phones, serial);
    connection.sendFrame({ type: 'screenshot', request_id }, picture);
  } catch (error) {
    log.debug({ serial, err: error }, 'No screenshot');
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 2000);
    connection.send({ type: 'request_failed', request_id, message });
  }
}

async function takeScreenshot(phones: PhoneWatch, serial: string): Promise<Buffer> {
  const phone = phones.find(serial);
  if (phone === undefined) throw new Error(`The phone ${serial} is not connected to this host`);
  const signal = AbortSignal.timeout(timeoutMs);
  const { base64 } = await phone.driver().call('screen.screenshot', { format: 'jpeg', maxWidth }, signal);
  return Buffer.from(base64, 'base64');
}

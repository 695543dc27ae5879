import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { once } from 'node:events';
import { anywhere, guardedLookup, type Resolve } from '@phalanx/egress';
import nodemailer from 'nodemailer';
import type { Sent } from '../delivery-maker.ts';
import type { MailConfig } from './mail-settings.ts';
import { domainOf } from './mail-address.ts';
import type { MailText } from './mail-text.ts';
import { explainFailure } from '../send-message.ts';

/** Timeout of an e-mail, shorter than the claim of a delivery, so that no other server starts in the meantime. */
const mailTimeoutMs = 20_000;
const permanent = 500;

/** Sends e-mails through the operator's mail server, with one connection for each. */
export class Mailer {
  readonly #config: MailConfig;
  readonly #lookup: LookupFunction;
  readonly #limitMs: number;

  /** Creates a mailer. `limitMs` is the timeout of one e-mail, from the connection to the server's last answer. */
  constructor(config: MailConfig, resolve: Resolve, limitMs = mailTimeoutMs) {
    this.#config = config;
    // The operator has configured the server, so its address may be anywhere.
    this.#lookup = guardedLookup(anywhere, resolve);
    this.#limitMs = limitMs;
  }

  async send(to: string, mail: MailText, closing: AbortSignal): Promise<Sent> {
    const tooLate = AbortSignal.timeout(this.#limitMs);
    const signal = AbortSignal.any([closing, tooLate]);
    const { host, port } = this.#config.server;
    const socket = createConnection({ host, port, lookup: this.#lookup });
    // The code that waits for the socket receives the error, too.
    socket.on('error', () => undefined);
    const end = (): void => void socket.destroy(new Error('it took too long'));
    signal.addEventListener('abort', end);
    try {
      await once(socket, 'connect', { signal });
      const { response } = await this.#transport(socket).sendMail(this.#messageOf(to, mail));
      return { result: 'delivered', responseStatus: Number.parseInt(response, 10) || null, problem: '' };
    } catch (error) {
      return failureOf(tooLate.aborted ? new Error(`no answer within ${this.#limitMs / 1000} s`) : error);
    } finally {
      signal.removeEventListener('abort', end);
      socket.destroy();
    }
  }

  #transport(connection: Socket) {
    const { host, port, encryption, login } = this.#config.server;
    return nodemailer.createTransport({
      host,
      port,
      connection,
      logger: false,
      secure: encryption === 'tls',
      requireTLS: encryption === 'starttls',
      ignoreTLS: encryption === 'none',
      ...(login !== undefined && { auth: { user: login.user, pass: login.password } }),
    });
  }

  #messageOf(to: string, { subject, text, id }: MailText) {
    const { from } = this.#config;
    return {
      from: { name: 'Phalanx', address: from },
      to: { name: '', address: to },
      envelope: { from, to: [to] },
      subject,
      text,
      messageId: `<${id}@${domainOf(from)}>`,
      // Suppresses automatic replies, for example of absent recipients (RFC 3834).
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    };
  }
}

/** Returns the result of a failure. A permanent refusal of the recipient or the content (5xx) is not retried. */
function failureOf(error: unknown): Sent {
  const about = error instanceof Error ? error : undefined;
  const status = about !== undefined && 'responseCode' in about ? Number(about.responseCode) : Number.NaN;
  const isOfMail =
    about !== undefined && 'code' in about && ['EENVELOPE', 'EMESSAGE'].includes(String(about.code));
  return {
    result: status >= permanent && isOfMail ? 'rejected' : 'refused',
    responseStatus: Number.isNaN(status) ? null : status,
    problem: explainFailure(error),
  };
}

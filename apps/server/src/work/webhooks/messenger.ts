import { type AddressRule, NameResolver } from '@phalanx/egress';
import type { ChatFormat } from '@phalanx/protocol';
import type { Clock } from '../../kernel/clock.ts';
import type { Audience } from '../../storage/db/webhook-outbox.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { Sealing } from '../../code/secrets/sealing.ts';
import { writeChatMessage } from './chat/chat-message.ts';
import { isOfToken } from './fan-out.ts';
import { readAudience } from './audience.ts';
import type { StoredDelivery } from './delivery-store.ts';
import type { Sent } from './delivery-maker.ts';
import { readRetryAfter } from './delivery-pauses.ts';
import type { MailConfig } from './mail/mail-settings.ts';
import { addressOf, isMail } from './mail/mail-address.ts';
import { writeMail } from './mail/mail-text.ts';
import type { Names } from './names.ts';
import { type Answer, explainFailure, sendMessage } from './send-message.ts';
import { signatureOf } from './signing-keys.ts';
import { placeOf, type StoredWebhook, type WebhookStore } from './store.ts';
import { Mailer } from './mail/mailer.ts';

interface Options {
  store: WebhookStore;
  sealing: Sealing;
  listRecipients: (audience: Audience) => Promise<string[]>;
  findUser: (id: string) => Promise<Pick<Row<'user'>, 'disabled_at'> | undefined>;
  /** Finds a token. Returns undefined when it was revoked. */
  findToken: (id: string) => Promise<{ readonly expiresAt: number | null } | undefined>;
  rule: AddressRule;
  /** Mail settings; undefined when no e-mail is sent. */
  mail: MailConfig | undefined;
  names: Names;
  clock: Clock;
}

const timeoutMs = 15_000;
const everybody = { userId: null, tokenProjects: null };

const dropped = (problem: string): Sent => ({ result: 'final', responseStatus: null, problem });
const ended: Sent = {
  result: 'ended',
  responseStatus: null,
  problem: 'The limited token with which the webhook was made has expired or was revoked',
};
const refused = (problem: string): Sent => ({ result: 'refused', responseStatus: null, problem });

/** Returns the body of a message, which is the same for all attempts. */
const bodyOf = ({ type, at, data }: Pick<StoredDelivery, 'type' | 'at' | 'data'>): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`;

/** Sends each message once, with the current settings of its webhook. */
export class Messenger {
  readonly #options: Options;
  readonly #resolver = new NameResolver();
  readonly #mailer: Mailer | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#mailer = options.mail && new Mailer(options.mail, this.#resolver.of('mail server'));
  }

  /** Sends deliveries of one webhook. Resolves with the result of each. */
  async send(deliveries: readonly StoredDelivery[], closing: AbortSignal): Promise<Sent[]> {
    const webhook = await this.#options.store.find(deliveries[0]?.webhook_id ?? '', everybody);
    if (webhook === undefined) return deliveries.map(() => dropped('The webhook was deleted'));
    if (await this.#hasTokenEnded(webhook)) return deliveries.map(() => ended);
    const reasons = await Promise.all(deliveries.map((one) => this.#findReasonToDrop(webhook, one)));
    const wanted = deliveries.filter((_, at) => reasons[at] === undefined);
    const sent = await this.#sendWanted(webhook, wanted, closing);
    const bySent = new Map(wanted.map((one, at) => [one, Array.isArray(sent) ? sent[at] : sent]));
    return deliveries.map((one, at) => bySent.get(one) ?? dropped(reasons[at] ?? ''));
  }

  /** Sends the wanted deliveries. A single result applies to all of them. */
  #sendWanted(
    webhook: StoredWebhook,
    wanted: readonly StoredDelivery[],
    closing: AbortSignal,
  ): Promise<Sent | Sent[]> {
    if (isMail(webhook.url)) return this.#mail(webhook, wanted, closing);
    if (webhook.format !== 'phalanx') return this.#chat(webhook, webhook.format, wanted, closing);
    return Promise.all(wanted.map((one) => this.#sendOne(webhook, one, closing)));
  }

  async #hasTokenEnded({ token_id: id }: StoredWebhook): Promise<boolean> {
    if (id === null) return false;
    const { findToken, clock } = this.#options;
    const token = await findToken(id);
    return token === undefined || (token.expiresAt ?? Infinity) <= clock.now();
  }

  async #sendOne(webhook: StoredWebhook, delivery: StoredDelivery, closing: AbortSignal): Promise<Sent> {
    const body = bodyOf(delivery);
    const headers = await this.#headersOf(webhook, delivery.id, body);
    return this.#post(webhook, { headers, body, closing });
  }

  /** Sends all deliveries in one message, under the ID of the first one. */
  async #chat(
    webhook: StoredWebhook,
    format: ChatFormat,
    deliveries: readonly StoredDelivery[],
    closing: AbortSignal,
  ): Promise<Sent> {
    const [first] = deliveries;
    if (first === undefined) return dropped('There is nothing to send');
    const body = await writeChatMessage(format, deliveries, this.#options.names);
    const headers = await this.#headersOf(webhook, first.id, body);
    return this.#post(webhook, { headers, body, closing });
  }

  /**
   * Sends all deliveries in one e-mail. Checks the recipient again, because the operator may have forbidden it since.
   */
  async #mail(
    webhook: StoredWebhook,
    deliveries: readonly StoredDelivery[],
    closing: AbortSignal,
  ): Promise<Sent> {
    const { mail, names } = this.#options;
    if (mail === undefined || this.#mailer === undefined) return refused('This service sends no e-mail');
    const address = addressOf(webhook.url);
    if (!mail.mayReceive(address)) return refused(`The operator of the service does not allow ${address}`);
    if (deliveries.length === 0) return dropped('There is nothing to send');
    return this.#mailer.send(address, await writeMail(webhook, deliveries, names), closing);
  }

  /** Finds why a delivery is dropped: its user is disabled, or has lost access to its subject since the event. */
  async #findReasonToDrop(webhook: StoredWebhook, { audience }: StoredDelivery): Promise<string | undefined> {
    const { listRecipients, findUser } = this.#options;
    const user = await findUser(webhook.user_id);
    if (user === undefined || user.disabled_at !== null) return 'The user of the webhook is disabled';
    const about = readAudience(audience);
    const isRecipient = (await listRecipients(about)).includes(webhook.user_id) && isOfToken(webhook, about);
    return isRecipient ? undefined : 'The user of the webhook may no longer see the subject of this delivery';
  }

  async #headersOf(webhook: StoredWebhook, id: string, body: string): Promise<Record<string, string>> {
    const { sealing, clock } = this.#options;
    const { sealed, earlier_sealed: earlier, earlier_until: until } = webhook;
    const isBoth = earlier !== null && until !== null && until > clock.now();
    const all = isBoth ? [sealed, earlier] : [sealed];
    const place = placeOf(webhook.id);
    const secrets = await Promise.all(all.map((text) => sealing.unseal({ sealed: text, place })));
    const timestamp = Math.floor(clock.now() / 1000);
    return {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'phalanx',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(secrets, { id, timestamp, body }),
    };
  }

  async #post(
    { url, user_id: userId }: StoredWebhook,
    { headers, body, closing }: { headers: Record<string, string>; body: string; closing: AbortSignal },
  ): Promise<Sent> {
    const tooLate = AbortSignal.timeout(timeoutMs);
    const target = {
      url: new URL(url),
      rule: this.#options.rule,
      resolve: this.#resolver.of(userId),
      signal: AbortSignal.any([closing, tooLate]),
    };
    try {
      return this.#judge(await sendMessage(target, headers, body));
    } catch (error) {
      return refused(tooLate.aborted ? `no answer within ${timeoutMs / 1000} s` : explainFailure(error));
    }
  }

  #judge({ status, retryAfter }: Answer): Sent {
    if (status >= 200 && status < 300) return { result: 'delivered', responseStatus: status, problem: '' };
    const isRedirect = status >= 300 && status < 400;
    return {
      result: status === 410 ? 'gone' : 'refused',
      responseStatus: status,
      problem: isRedirect ? `status ${status}: redirects are not followed` : `status ${status}`,
      pauseMs: readRetryAfter(retryAfter, this.#options.clock.now()),
    };
  }
}

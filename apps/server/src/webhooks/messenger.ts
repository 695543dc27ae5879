import type { AddressRule } from '@phalanx/egress';

import type { Clock } from '../clock.ts';
import type { Audience } from '../db/webhook-outbox.ts';
import type { Row } from '../db/tables.ts';
import type { Sealing } from '../secrets/sealing.ts';
import { readAudience } from './audience.ts';
import type { StoredDelivery } from './delivery-store.ts';
import type { Sent } from './delivery-worker.ts';
import { isOfToken } from './fan-out.ts';
import { readRetryAfter } from './retry-times.ts';
import { type Answer, explainFailure, sendMessage } from './send-message.ts';
import { signatureOf } from './signatures.ts';
import { placeOf, type StoredWebhook, type WebhookStore } from './store.ts';

interface Options {
  store: WebhookStore;
  sealing: Sealing;
  listHearers: (audience: Audience) => Promise<string[]>;
  findUser: (id: string) => Promise<Pick<Row<'user'>, 'disabled_at'> | undefined>;
  rule: AddressRule;
  clock: Clock;
}

const timeoutMs = 15_000;
const everybody = { userId: null, tokenProjects: null };

const dropped = (problem: string): Sent => ({ result: 'final', responseStatus: null, problem });
const refused = (problem: string): Sent => ({ result: 'refused', responseStatus: null, problem });

/** The body of a message: the same for all attempts. */
const bodyOf = ({ type, at, data }: Pick<StoredDelivery, 'type' | 'at' | 'data'>): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`;

/** Sends one message, once, as its webhook is now. */
export class Messenger {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async send(delivery: StoredDelivery, closing: AbortSignal): Promise<Sent> {
    const webhook = await this.#options.store.find(delivery.webhook_id, everybody);
    if (webhook === undefined) return dropped('The webhook is gone');
    const reason = await this.#findReasonToDrop(webhook, delivery);
    if (reason !== undefined) return dropped(reason);
    const body = bodyOf(delivery);
    const headers = await this.#headersOf(webhook, delivery.id, body);
    return this.#post(webhook, { headers, body, closing });
  }

  /** What the user might see when it happened may be nothing that they see now. */
  async #findReasonToDrop(webhook: StoredWebhook, { audience }: StoredDelivery): Promise<string | undefined> {
    const { listHearers, findUser } = this.#options;
    const user = await findUser(webhook.user_id);
    if (user === undefined || user.disabled_at !== null) return 'The user of the webhook is disabled';
    const about = readAudience(audience);
    const mayHear = (await listHearers(about)).includes(webhook.user_id) && isOfToken(webhook, about);
    return mayHear ? undefined : 'The user of the webhook may not see any more what it is about';
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
    { url }: StoredWebhook,
    { headers, body, closing }: { headers: Record<string, string>; body: string; closing: AbortSignal },
  ): Promise<Sent> {
    const tooLate = AbortSignal.timeout(timeoutMs);
    const target = {
      url: new URL(url),
      rule: this.#options.rule,
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

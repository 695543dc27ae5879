import { createHash } from 'node:crypto';
import type { StoredDelivery } from '../delivery-store.ts';
import type { Names } from '../names.ts';
import type { StoredWebhook } from '../store.ts';
import { line, linesOf, quoted, describeDelivery, type EventText } from '../describe-delivery.ts';

export interface MailText {
  readonly subject: string;
  readonly text: string;
  /** Message ID. It is the same for the same deliveries, so that mail programs show a repeated e-mail once. */
  readonly id: string;
}

/** Maximum number of deliveries that one e-mail describes. The rest are only counted. */
const described = 50;
const maxHeadlineLength = 150;

/** Writes the plain text of an e-mail about the deliveries of one webhook. */
export async function writeMail(
  webhook: StoredWebhook,
  deliveries: readonly StoredDelivery[],
  names: Names,
): Promise<MailText> {
  const shown = await Promise.all(deliveries.slice(0, described).map((one) => describeDelivery(one, names)));
  const rest = deliveries.length - shown.length;
  const parts = shown.map((text) => describe(text, names.consoleUrl));
  if (rest > 0) parts.push(`${rest.toLocaleString('en')} more messages are listed among the deliveries.`);
  const [first] = shown;
  const more = deliveries.length > 1 ? `, and ${(deliveries.length - 1).toLocaleString('en')} more` : '';
  return {
    subject: `[Phalanx] ${line(first?.headline ?? '', maxHeadlineLength)}${more}`,
    text: `${parts.join('\n\n')}\n\n${footOf(webhook, names)}`,
    id: createHash('sha256')
      .update(deliveries.map(({ id, created_at: at }) => `${id} ${at}`).join())
      .digest('hex')
      .slice(0, 32),
  };
}

const describe = (text: EventText, consoleUrl: string): string =>
  [`${text.headline}.`, ...linesOf(text), `${consoleUrl}${text.path}`].join('\n');

const footOf = ({ name, user_id: userId }: StoredWebhook, { user, consoleUrl }: Names): string =>
  [
    // Mail programs treat this line as the beginning of a signature.
    '-- ',
    `${line(user(userId), 100)} asked for this e-mail${name === '' ? '' : `, under the name ${quoted(name)}`}.`,
    `It can be changed and paused under ${consoleUrl}/webhooks`,
    '',
  ].join('\n');

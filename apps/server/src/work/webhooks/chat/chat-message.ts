import type { ChatFormat } from '@phalanx/protocol';

import type { StoredDelivery } from '../delivery-store.ts';
import type { Names } from '../names.ts';
import { line, linesOf, describeDelivery, type EventText } from '../describe-delivery.ts';
import type { ChatEvent, ChatText } from './chat-text.ts';
import { writeSlackMessage } from './slack-message.ts';
import { writeTeamsMessage } from './teams-message.ts';

/**
 * Maximum number of events per message. Slack accepts 50 blocks, and an event has up to 3. Teams accepts 28 KB, and an
 * event has up to 4 KB.
 */
const maxEvents = 6;
/** Maximum length of a headline in characters, Slack's limit for a header. */
const maxHeadline = 150;
const maxLine = 300;

const writers: Record<ChatFormat, (text: ChatText) => object> = {
  slack: writeSlackMessage,
  teams: writeTeamsMessage,
};

/** Writes the body of a chat message about these deliveries. */
export async function writeChatMessage(
  format: ChatFormat,
  deliveries: readonly StoredDelivery[],
  names: Names,
): Promise<string> {
  const texts = await Promise.all(deliveries.slice(0, maxEvents).map((one) => describeDelivery(one, names)));
  const more = deliveries.length - texts.length;
  return JSON.stringify(
    writers[format]({
      events: texts.map((one) => eventOf(one, names)),
      rest: more > 0 ? `${more} more messages are listed among the deliveries of the webhook.` : '',
    }),
  );
}

const eventOf = (text: EventText, { publicUrl }: Names): ChatEvent => ({
  headline: line(`${text.headline}.`, maxHeadline - 1),
  lines: linesOf(text, maxLine),
  url: publicUrl === undefined ? undefined : `${publicUrl}${encodeURI(text.path)}`,
});

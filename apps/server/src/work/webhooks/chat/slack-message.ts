import type { ChatEvent, ChatText } from './chat-text.ts';

/** Maximum number of characters that Slack accepts in a header, a section and the text of notifications. */
const maxLength = { header: 150, section: 3000, text: 4000 };

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes text of others, so that it cannot become a link or a mention: the first character of `<!channel>` and `<@U1>`
 * is escaped. In blocks, it stands only in objects of the type `plain_text`, which have no markup. Truncates text
 * before it is too long, never within an entity.
 */
function escaped(text: string, max: number): string {
  let whole = '';
  for (const sign of text) {
    const next = entities[sign] ?? sign;
    if (whole.length + next.length >= max) return `${whole}…`;
    whole += next;
  }
  return whole;
}

const plainText = (text: string, max: number) => ({
  type: 'plain_text',
  text: escaped(text, max),
  emoji: false,
});

const section = (text: string) => ({ type: 'section', text: plainText(text, maxLength.section) });

/**
 * Writes the body for an incoming webhook of Slack:
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const writeSlackMessage = ({ events, rest }: ChatText): object => ({
  // Notifications show this text in place of the blocks.
  text: escaped(events.map(({ headline }) => headline).join('\n'), maxLength.text),
  blocks: [...events.flatMap(blocksOf), ...(rest === '' ? [] : [section(rest)])],
});

const blocksOf = ({ headline, lines, url }: ChatEvent): object[] => [
  { type: 'header', text: plainText(headline, maxLength.header) },
  ...(lines.length === 0 ? [] : [section(lines.join('\n'))]),
  ...(url === undefined ? [] : [linkTo(url)]),
];

const linkTo = (url: string) => ({
  type: 'context',
  elements: [
    { type: 'mrkdwn', text: `<${escaped(url.replaceAll('|', '%7C'), maxLength.section)}|Open in Phalanx>` },
  ],
});

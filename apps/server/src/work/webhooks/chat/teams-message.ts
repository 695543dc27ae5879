import type { ChatEvent, ChatText } from './chat-text.ts';

/**
 * Writes the body for Workflows of Microsoft Teams: a message with an Adaptive Card. Text of others stands only in
 * `TextRun`s, the only text of a card that is not read as Markdown.
 */
export const writeTeamsMessage = ({ events, rest }: ChatText): object => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        msteams: { width: 'Full' },
        body: [...events.map(containerOf), ...(rest === '' ? [] : [textBlock(rest, { isSubtle: true })])],
      },
    },
  ],
});

const containerOf = ({ headline, lines, url }: ChatEvent, index: number) => ({
  type: 'Container',
  separator: index > 0,
  items: [
    textBlock(headline, { size: 'Medium', weight: 'Bolder' }),
    ...lines.map((text) => ({ ...textBlock(text), spacing: 'None' })),
    ...(url === undefined ? [] : [linkTo(url)]),
  ],
});

const textBlock = (text: string, look: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...look }],
});

const linkTo = (url: string) => ({
  type: 'ActionSet',
  actions: [{ type: 'Action.OpenUrl', title: 'Open in Phalanx', url }],
});

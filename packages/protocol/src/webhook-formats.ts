import { Type, type Static } from 'typebox';

/** How the messages of a webhook are written. */
export const WebhookFormat = Type.Enum(['phalanx', 'slack', 'teams'] as const, {
  description:
    'Format of the messages: `phalanx` is the JSON of Standard Webhooks, for programs; `slack` and `teams` are texts for chats in Slack and Microsoft Teams. Ignored for e-mail. Default `phalanx`',
  examples: ['phalanx'],
});
export type WebhookFormat = Static<typeof WebhookFormat>;

/** The chats that messages can be written for, as people call them. */
export const chatNames = { slack: 'Slack', teams: 'Microsoft Teams' } as const;
export type ChatFormat = keyof typeof chatNames;

const hosts: Readonly<Record<ChatFormat, RegExp>> = {
  slack: /^hooks\.slack\.com$/,
  // Workflows of Power Automate, and the connectors that they replace.
  teams: /\.(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/,
};

/** Format that an address asks for: those of Slack and Teams take nothing but their own formats. */
export function webhookFormatFor(url: string): WebhookFormat {
  const host = /^https:\/\/([^/:?#@]+)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (hosts.slack.test(host)) return 'slack';
  return hosts.teams.test(host) ? 'teams' : 'phalanx';
}

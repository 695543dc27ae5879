import { Type, type Static } from 'typebox';

/** Formats of a webhook's messages. */
export const WebhookFormat = Type.Enum(['phalanx', 'slack', 'teams'] as const, {
  description:
    'Format of the messages: `phalanx` is the JSON of Standard Webhooks, for programs; `slack` and `teams` are texts for chats in Slack and Microsoft Teams. Ignored for e-mail. Default `phalanx`',
  examples: ['phalanx'],
});
export type WebhookFormat = Static<typeof WebhookFormat>;

/** Display names of the supported chats. */
export const chatNames = { slack: 'Slack', teams: 'Microsoft Teams' } as const;
export type ChatFormat = keyof typeof chatNames;

const hosts: Readonly<Record<ChatFormat, RegExp>> = {
  slack: /^hooks\.slack\.com$/,
  // Hosts of Power Automate workflows, and of the connectors that they replace.
  teams: /\.(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/,
};

/** Returns the format that a URL requires: Slack and Teams accept only their own formats. */
export function webhookFormatFor(url: string): WebhookFormat {
  const host = /^https:\/\/([^/:?#@]+)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (hosts.slack.test(host)) return 'slack';
  return hosts.teams.test(host) ? 'teams' : 'phalanx';
}

import { chatNames, type Webhook, type WebhookDelivery } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { Mark, type MarkLook } from '../../parts/mark.tsx';
import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';

const mailScheme = 'mailto:';
export const isMail = (url: string): boolean => url.startsWith(mailScheme);

/** Formats a webhook URL for users: an e-mail address without the scheme. */
export const addressText = (url: string): string => (isMail(url) ? url.slice(mailScheme.length) : url);

/** Returns the URL that the API expects. */
export const urlOf = (text: string): string =>
  /^[^:/\s]+@[^:/\s]+$/.test(text.trim()) ? mailScheme + text.trim() : text.trim();

const states: Record<Webhook['health']['state'], MarkLook> = {
  unused: { tone: 'offline', glyph: '◌', word: 'unused' },
  ok: { tone: 'ready', glyph: '✓', word: 'ok' },
  failing: { tone: 'broken', glyph: '!', word: 'failing' },
  paused: { tone: 'offline', glyph: '■', word: 'paused' },
  disabled: { tone: 'broken', glyph: '✕', word: 'disabled' },
};

const statuses: Record<WebhookDelivery['status'], MarkLook> = {
  waiting: { tone: 'waiting', glyph: '◌', word: 'waiting' },
  delivered: { tone: 'ready', glyph: '✓', word: 'delivered' },
  failed: { tone: 'broken', glyph: '✕', word: 'failed' },
};

export const WebhookMark = ({ health }: Pick<Webhook, 'health'>) => <Mark {...states[health.state]} />;

export const DeliveryMark = ({ status }: Pick<WebhookDelivery, 'status'>) => <Mark {...statuses[status]} />;

/** Whether the receiver verifies signatures; chats and mailboxes don't. */
export const isSigned = ({ url, format }: Pick<Webhook, 'url' | 'format'>): boolean =>
  !isMail(url) && format === 'phalanx';

/** Returns the address without secrets: the path of a chat's URL is its key, which lets anyone post there. */
export const shownAddress = ({ url, format }: Pick<Webhook, 'url' | 'format'>): string =>
  format === 'phalanx' ? addressText(url) : `${chatNames[format]}: ${targetText(url)}`;

/** Returns the short address: the host name, or the e-mail address. */
export const targetText = (url: string): string => (isMail(url) ? addressText(url) : new URL(url).host);

/** Describes the health of the deliveries. */
export function healthText({ health, problem }: Pick<Webhook, 'health' | 'problem'>): string {
  const waiting = health.waiting === 0 ? [] : [`${health.waiting.toLocaleString('en')} waiting`];
  const failure = health.state === 'failing' ? [health.last_failure] : [];
  return [...(problem === '' ? failure : [problem]), ...waiting].join(', ');
}

/** Refetch interval in ms, because no events report deliveries. */
const refreshMs = 3000;
const shownDeliveries = 100;

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }): Promise<Webhook[]> =>
    readAll(
      (query) => call('GET /api/v2/webhooks', { query }, { signal }),
      ({ webhooks }) => webhooks,
    ),
  refetchInterval: refreshMs,
});

/** Query for the newest deliveries. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: async ({ signal }): Promise<WebhookDelivery[]> => {
      const input = { params: { id }, query: { limit: shownDeliveries } };
      return (await call('GET /api/v2/webhooks/:id/deliveries', input, { signal })).deliveries;
    },
    refetchInterval: refreshMs,
  });

import { webhookEvents } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../kernel/clock.ts';
import { type Audience, EnqueuedEvent } from '../../storage/db/webhook-outbox.ts';
import type { Claim } from '../../storage/db/work-queue.ts';
import { readProjects } from '../../http/requests/kept-token.ts';
import type { DeliveryStore, EventFanOut } from './delivery-store.ts';
import type { StoredWebhook } from './store.ts';

interface Options {
  store: DeliveryStore;
  listRecipients: (audience: Audience) => Promise<string[]>;
  clock: Clock;
}

type Enqueued = Static<typeof EnqueuedEvent>;

const texts = Compile(Type.Array(Type.String()));
export const readTexts = (json: string): string[] => texts.Parse(JSON.parse(json));

const enqueued = Compile(EnqueuedEvent);
const endedRun = Compile(webhookEvents['run.ended'].properties.data);

/** Makes deliveries of events: one for each webhook that subscribes to the event and whose user may receive it. */
export class FanOut {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Makes the deliveries of claimed events. */
  async fanOut(claim: Claim): Promise<void> {
    const { store, clock } = this.#options;
    const known = new Map<string, Promise<StoredWebhook[]>>();
    const fanOuts: EventFanOut[] = [];
    for (const { payload } of claim.items)
      fanOuts.push(await this.#fanOutOf(enqueued.Parse(JSON.parse(payload ?? '')), known));
    await store.deliver(claim, fanOuts, clock.now());
  }

  /**
   * Finds the webhooks that subscribe to an event. `known` caches the webhooks that were read for other events of this
   * claim.
   */
  async #fanOutOf(event: Enqueued, known: Map<string, Promise<StoredWebhook[]>>): Promise<EventFanOut> {
    const { store, listRecipients } = this.#options;
    const { type, at, data, audience } = event;
    const userIds = await listRecipients(audience);
    const key = [type, ...userIds.toSorted()].join(' ');
    const listening = known.get(key) ?? store.listListening(userIds, type);
    known.set(key, listening);
    return {
      event: { type, at, data: JSON.stringify(data), audience: JSON.stringify(audience) },
      webhooks: (await listening).filter((one) => asksFor(one, event)),
    };
  }
}

function asksFor(webhook: StoredWebhook, { type, data, audience }: Enqueued): boolean {
  if (!isOfProjects(webhook, audience)) return false;
  const outcomes = readTexts(webhook.outcomes);
  if (type !== 'run.ended' || outcomes.length === 0) return true;
  return endedRun.Check(data) && data.outcome !== null && outcomes.includes(data.outcome);
}

/** Whether the webhook subscribes to the project, and its token covered the project. */
function isOfProjects(webhook: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  if (projectId === undefined) return true;
  const asked = readTexts(webhook.project_ids);
  return (asked.length === 0 || asked.includes(projectId)) && isOfToken(webhook, audience);
}

/** Whether the token that made the webhook covered the project of the audience. */
export function isOfToken({ token_projects: own }: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  return projectId === undefined || readProjects(own)?.has(projectId) !== false;
}

/** Returns the project of the audience, or undefined when it has none. */
const projectOf = (audience: Audience): string | undefined =>
  'automationId' in audience ? audience.automationId : undefined;

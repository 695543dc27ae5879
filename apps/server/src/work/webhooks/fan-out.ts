import { webhookEvents } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Batcher } from '../../kernel/batcher.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Audience } from '../../storage/db/webhook-outbox.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { readProjects } from '../../http/requests/kept-token.ts';
import type { DeliveryStore, StoredEvent, EventFanOut } from './delivery-store.ts';
import type { StoredWebhook } from './store.ts';
import { readAudience } from './audience.ts';

interface Options {
  store: DeliveryStore;
  listRecipients: (audience: Audience) => Promise<string[]>;
  /** Told of webhooks that have something to do. */
  onDelivery: (webhookIds: readonly string[]) => void;
  clock: Clock;
  faults: FaultMonitor;
}

const texts = Compile(Type.Array(Type.String()));
export const readTexts = (json: string): string[] => texts.Parse(JSON.parse(json));

const endedRun = Compile(webhookEvents['run.ended'].properties.data);

/** Makes deliveries of what has happened: one for each webhook that asks for it, and whose user may hear of it. */
export class FanOut {
  readonly #options: Options;
  readonly #looks: Batcher<'outbox'>;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#looks = new Batcher({
      work: () => this.#look(),
      faults: options.faults,
      failureMessage: 'the events for webhooks could not be read',
    });
  }

  /** Looks at the outbox: something has happened, or may have at another server. */
  look(): void {
    if (!this.#isClosed) this.#looks.add(['outbox']);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#looks.end();
  }

  async #look(): Promise<void> {
    const { store, clock, onDelivery } = this.#options;
    for (;;) {
      const known = new Map<string, Promise<StoredWebhook[]>>();
      const fanOuts: EventFanOut[] = [];
      for (const event of await store.listOutbox()) fanOuts.push(...(await this.#fanOutsOf(event, known)));
      if (fanOuts.length === 0) return;
      await store.deliver(fanOuts, clock.now());
      onDelivery(fanOuts.flatMap(({ webhooks }) => webhooks.map(({ id }) => id)));
    }
  }

  /**
   * Finds the webhooks that ask for an event. None for an unreadable event. `known`: webhooks that were read for others
   * of this look.
   */
  async #fanOutsOf(event: StoredEvent, known: Map<string, Promise<StoredWebhook[]>>): Promise<EventFanOut[]> {
    const { store, listRecipients, faults } = this.#options;
    try {
      const audience = readAudience(event.audience);
      const userIds = await listRecipients(audience);
      const key = [event.type, ...userIds.toSorted()].join(' ');
      const listening = known.get(key) ?? store.listListening(userIds, event.type);
      known.set(key, listening);
      return [{ event, webhooks: (await listening).filter((one) => asksFor(one, event, audience)) }];
    } catch (error) {
      faults.report(error, `event ${event.id} could not be sent to webhooks`);
      return [];
    }
  }
}

function asksFor(webhook: StoredWebhook, { type, data }: StoredEvent, audience: Audience): boolean {
  if (!isOfProjects(webhook, audience)) return false;
  const outcomes = readTexts(webhook.outcomes);
  if (type !== 'run.ended' || outcomes.length === 0) return true;
  const run: unknown = JSON.parse(data);
  return endedRun.Check(run) && run.outcome !== null && outcomes.includes(run.outcome);
}

/** Whether the webhook asks for the project, and its token was for it. */
function isOfProjects(webhook: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  if (projectId === undefined) return true;
  const asked = readTexts(webhook.project_ids);
  return (asked.length === 0 || asked.includes(projectId)) && isOfToken(webhook, audience);
}

/** Whether the token that made the webhook was for the project of it. */
export function isOfToken({ token_projects: own }: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  return projectId === undefined || readProjects(own)?.has(projectId) !== false;
}

/** Project of the audience; undefined: it is of none. */
const projectOf = (audience: Audience): string | undefined =>
  'automationId' in audience ? audience.automationId : undefined;

import { webhookEvents } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { Batcher } from '../batcher.ts';
import type { Clock } from '../clock.ts';
import type { Audience } from '../db/happenings.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { projectOf, readAudience } from './audience.ts';
import type { DeliveryStore, StoredHappening } from './delivery-store.ts';
import type { StoredWebhook } from './store.ts';

interface Options {
  store: DeliveryStore;
  listHearers: (audience: Audience) => Promise<string[]>;
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
  readonly #looks: Batcher<'happenings'>;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#looks = new Batcher({
      work: () => this.#look(),
      faults: options.faults,
      says: 'what webhooks are to tell of could not be read',
    });
  }

  /** Something has happened, or may have at another server. */
  look(): void {
    if (!this.#isClosed) this.#looks.add(['happenings']);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#looks.end();
  }

  async #look(): Promise<void> {
    const { store, faults } = this.#options;
    for (let done = 1; done > 0;) {
      done = 0;
      for (const happening of await store.listHappenings()) {
        try {
          await this.#tell(happening);
          done += 1;
        } catch (error) {
          faults.report(error, `webhooks could not be told of ${happening.id}`);
        }
      }
    }
  }

  async #tell(happening: StoredHappening): Promise<void> {
    const { store, listHearers, onDelivery, clock } = this.#options;
    const audience = readAudience(happening.audience);
    const userIds = await listHearers(audience);
    const listening = await store.listListening(userIds, happening.type);
    const chosen = listening.filter((webhook) => asksFor(webhook, happening, audience));
    await store.deliver(happening, chosen, clock.now());
    onDelivery(chosen.map(({ id }) => id));
  }
}

function asksFor(webhook: StoredWebhook, { type, data }: StoredHappening, audience: Audience): boolean {
  if (!isOfProjects(webhook, audience)) return false;
  const outcomes = readTexts(webhook.outcomes);
  if (type !== 'run.ended' || outcomes.length === 0) return true;
  const run: unknown = JSON.parse(data);
  return endedRun.Check(run) && run.outcome !== null && outcomes.includes(run.outcome);
}

/** Those that it asks for, and those of the token that it was made with. */
function isOfProjects(webhook: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  if (projectId === undefined) return true;
  const asked = readTexts(webhook.project_ids);
  return (asked.length === 0 || asked.includes(projectId)) && isOfToken(webhook, audience);
}

/** Whether the token that made the webhook was for the project of it. */
export function isOfToken({ token_projects: own }: StoredWebhook, audience: Audience): boolean {
  const projectId = projectOf(audience);
  return own === null || projectId === undefined || readTexts(own).includes(projectId);
}

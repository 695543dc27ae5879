import type { WebhookData } from '@phalanx/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { readProjects } from '../../http/requests/kept-token.ts';
import type { AbsenceStore } from './absence-store.ts';
import type { RunsOf, RunWatchStore } from './run-watch-store.ts';
import type { DeliveryEvent } from './delivery-store.ts';
import { readTexts } from './fan-out.ts';
import type { StoredWebhook } from './store.ts';
import { hourMs } from '@phalanx/timing/durations';

interface RunWatchOptions {
  store: AbsenceStore;
  runs: RunWatchStore;
  clock: Clock;
}

type Kind = 'runs.failing' | 'runs.none';
type Finding<Name extends Kind> = WebhookData<Name> | undefined;

/** Minimum number of ended runs. The share of fewer runs is not meaningful. */
const minEnded = 5;

/** Finds webhooks whose user's runs fail too often or are missing. Reports each problem once, until it is over. */
export class RunWatch {
  readonly #options: RunWatchOptions;

  constructor(options: RunWatchOptions) {
    this.#options = options;
  }

  /** Checks the webhooks that watch runs. Only one server does so at a time. */
  async look(): Promise<void> {
    for (const webhook of await this.#options.store.listWatching('runs.')) {
      const events = readTexts(webhook.events);
      if (events.includes('runs.failing'))
        await this.#note(webhook, 'runs.failing', await this.#findFailing(webhook));
      if (events.includes('runs.none')) await this.#note(webhook, 'runs.none', await this.#findNone(webhook));
    }
  }

  /** Returns the counts of runs, or undefined when they do not fail too often. */
  async #findFailing(webhook: StoredWebhook): Promise<Finding<'runs.failing'>> {
    const { runs, clock } = this.#options;
    const { failing_hours: hours, failing_percent: percent, heard_since: heardSince } = webhook;
    const since = Math.max(heardSince, clock.now() - hours * hourMs);
    const { ended, failed } = await runs.count(runsOf(webhook), since);
    return ended >= minEnded && failed * 100 >= ended * percent ? { hours, ended, failed } : undefined;
  }

  /** Returns the silence, or undefined when a run was launched within the time limit. */
  async #findNone(webhook: StoredWebhook): Promise<Finding<'runs.none'>> {
    const { runs, clock } = this.#options;
    const { silent_hours: hours, heard_since: heardSince } = webhook;
    const last = await runs.findLast(runsOf(webhook));
    if (clock.now() - Math.max(heardSince, last?.created_at ?? 0) < hours * hourMs) return undefined;
    return { hours, last_run_id: last?.id ?? null, last_at: last?.created_at ?? null };
  }

  async #note<Name extends Kind>(webhook: StoredWebhook, kind: Name, found: Finding<Name>): Promise<void> {
    const { store, clock } = this.#options;
    const [known] = await store.list(webhook.id, [kind]);
    if ((known === undefined) === (found === undefined)) return;
    const now = clock.now();
    const row = known ?? { webhook_id: webhook.id, kind, target_id: '', since: now, is_told: 1 };
    const audience = JSON.stringify({ kind: 'user', userId: webhook.user_id });
    const event: DeliveryEvent = { type: kind, at: now, data: JSON.stringify(found ?? {}), audience };
    const change = found === undefined ? { ended: [row] } : { begun: [row], events: [event] };
    await store.note(webhook, { begun: [], reported: [], ended: [], events: [], ...change }, now);
  }
}

/** Returns the runs that the webhook watches: those of its projects, among the projects of the token that made it. */
function runsOf({ user_id: userId, project_ids, token_projects }: StoredWebhook): RunsOf {
  const asked = readTexts(project_ids);
  const own = readProjects(token_projects);
  if (asked.length === 0) return { userId, projectIds: own && [...own] };
  return { userId, projectIds: asked.filter((id) => own?.has(id) !== false) };
}

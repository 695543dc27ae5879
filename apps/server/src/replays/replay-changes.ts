import type { Logger } from 'pino';

import type { EventFeed } from '../events/event-feed.ts';
import { replayView } from './replay-view.ts';
import type { StoredReplay } from './store.ts';

interface Options {
  listReviewers: (automation: { ownerId: string; automationId: string }) => Promise<string[]>;
  feed: EventFeed;
  log: Logger;
}

/** Tells those who follow how far replays are. */
export class ReplayChanges {
  readonly #options: Options;
  /** One after the other: what was stored later is told later. */
  #told = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  changed(stored: StoredReplay): void {
    const { feed, listReviewers, log } = this.#options;
    if (!feed.isFollowed) return;
    const replay = replayView(stored);
    const automation = { ownerId: stored.owner_id, automationId: stored.project_id };
    this.#told = this.#told
      .then(async () => feed.replayChanged({ replay, userIds: await listReviewers(automation) }))
      .catch((error: unknown) => log.error({ err: error }, 'a replay event could not be sent'));
  }
}

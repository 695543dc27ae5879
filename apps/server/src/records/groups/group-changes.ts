import type { Logger } from 'pino';

import type { EventFeed } from '../../events/event-feed.ts';
import type { AutomationAccess } from '../access-store.ts';
import type { GroupViews } from './group-view.ts';
import type { StoredGroup } from './membership-store.ts';

interface Options {
  access: AutomationAccess;
  views: GroupViews;
  feed: EventFeed;
  log: Logger;
}

/** Tells those who follow what has become of groups. */
export class GroupChanges {
  readonly #options: Options;
  /** One after the other: what was stored later is told later. */
  #told = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  changed(group: StoredGroup): void {
    // The one that it was merged into is told of.
    if (!this.#options.feed.isFollowed || group.merged_into !== null) return;
    this.#told = this.#told
      .then(() => this.#tell(group))
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'a group event could not be sent');
      });
  }

  async #tell(group: StoredGroup): Promise<void> {
    const { access, views, feed } = this.#options;
    const automation = { ownerId: group.owner_id, automationId: group.automation_id };
    const userIds = group.project_id === null ? [group.owner_id] : await access.listReviewers(automation);
    feed.groupChanged({ group: await views.one(group), userIds });
  }
}

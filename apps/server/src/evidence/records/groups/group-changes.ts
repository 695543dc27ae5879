import type { Logger } from 'pino';
import type { EventFeed } from '../../../runs/events/event-feed.ts';
import { OrderedEvents } from '../../../runs/events/ordered-events.ts';
import type { AutomationAccess } from '../access-store.ts';
import type { GroupViews } from './group-view.ts';
import type { StoredGroup } from './membership-store.ts';

interface Options {
  access: AutomationAccess;
  views: GroupViews;
  feed: EventFeed;
  log: Logger;
}

/** Publishes changes of groups to followers. */
export class GroupChanges {
  readonly #options: Options;
  readonly #events: OrderedEvents;

  constructor(options: Options) {
    this.#options = options;
    this.#events = new OrderedEvents(options.log, 'a group event could not be sent');
  }

  changed(group: StoredGroup): void {
    // The group into which it was merged has its own event.
    if (!this.#options.feed.isFollowed || group.merged_into !== null) return;
    this.#events.add(() => this.#publish(group));
  }

  async #publish(group: StoredGroup): Promise<void> {
    const { access, views, feed } = this.#options;
    const automation = { ownerId: group.owner_id, automationId: group.automation_id };
    const userIds =
      group.project_id === null ? [group.owner_id] : await access.listAcceptedReviewers(automation);
    feed.groupChanged({ group: await views.one(group), userIds });
  }
}

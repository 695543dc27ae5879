import type { Replay, ReplayVerdict, SequenceOutcome } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { EventFeed } from '../../runs/events/event-feed.ts';
import { countsOf, type StoredReplay, type StoredVerdict } from './store.ts';
import { OrderedEvents } from '../../runs/events/ordered-events.ts';

/** Returns the API view of a replay. */
export function replayView(replay: StoredReplay): Replay {
  const {
    id,
    project_id,
    commit_hash: commit,
    screen_set: set,
    group_id,
    cause,
    status,
    problem,
    made_by,
  } = replay;
  const { created_at, started_at, ended_at } = replay;
  return {
    id,
    project_id,
    commit,
    draft: replay.is_draft === 1,
    set,
    group_id,
    cause,
    status,
    problem,
    made_by,
    mode: replay.record_id === null ? 'screens' : 'sequence',
    record_id: replay.record_id,
    // The worker alone writes this column.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    sequence: replay.sequence === null ? null : (JSON.parse(replay.sequence) as SequenceOutcome),
    counts: countsOf(replay),
    created_at,
    started_at,
    ended_at,
  };
}

export const verdictView = ({
  position,
  kind,
  name,
  group_id,
  expected,
  outcome,
  change,
  verdict,
}: StoredVerdict) => ({
  position,
  kind,
  name,
  group_id,
  expected,
  outcome,
  change,
  // The verdict was checked when it arrived.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  verdict: JSON.parse(verdict) as ReplayVerdict,
});

interface Options {
  listAcceptedReviewers: (automation: { ownerId: string; automationId: string }) => Promise<string[]>;
  feed: EventFeed;
  log: Logger;
}

/** Publishes the progress of replays to followers. */
export class ReplayChanges {
  readonly #options: Options;
  readonly #events: OrderedEvents;

  constructor(options: Options) {
    this.#options = options;
    this.#events = new OrderedEvents(options.log, 'a replay event could not be sent');
  }

  changed(stored: StoredReplay): void {
    const { feed, listAcceptedReviewers } = this.#options;
    if (!feed.isFollowed) return;
    const replay = replayView(stored);
    const automation = { ownerId: stored.owner_id, automationId: stored.project_id };
    this.#events.add(async () =>
      feed.replayChanged({ replay, userIds: await listAcceptedReviewers(automation) }),
    );
  }
}

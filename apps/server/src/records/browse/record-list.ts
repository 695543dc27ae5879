/** Records that somebody may review: all of an owner, or those of one automation of theirs. */
export interface ReviewScope {
  readonly ownerId: string;
  /** `null`: all. Two users may use one launch ID, so an automation is known only with its owner. */
  readonly automationId: string | null;
}

/** A scope, or the records in it with one tag. Each list has counts of its own. */
export interface RecordList extends ReviewScope {
  readonly tag: string | null;
}

/** Neither kind of ID has a slash, and a tag comes last. */
export const listKey = ({ ownerId, automationId, tag }: RecordList): string =>
  `${ownerId}/${automationId ?? ''}/${tag ?? ''}`;

interface Listed {
  owner_id: string;
  automation_id: string;
  tag: string;
}

/** The lists that a record is in. */
export const listsOf = ({ owner_id: ownerId, automation_id: automationId, tag }: Listed): RecordList[] => [
  { ownerId, automationId: null, tag: null },
  { ownerId, automationId: null, tag },
  { ownerId, automationId, tag: null },
  { ownerId, automationId, tag },
];

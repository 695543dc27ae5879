/** Which record is shown while the address follows later: the address is written only after the record is painted. */
export interface ReviewPosition {
  /** What is shown before the address names it. */
  readonly ahead: string | undefined;
  /** Records that were shown and whose addresses are still to come, oldest first. */
  readonly pending: readonly string[];
}

export type ReviewEvent =
  | { readonly type: 'show'; readonly id: string; readonly addressed: string | undefined }
  | { readonly type: 'addressed'; readonly id: string | undefined };

export const firstPosition: ReviewPosition = { ahead: undefined, pending: [] };

export function moveReview(position: ReviewPosition, event: ReviewEvent): ReviewPosition {
  if (event.type === 'show') {
    if (event.id === event.addressed && position.pending.length === 0) return position;
    return { ahead: event.id, pending: [...position.pending, event.id] };
  }
  const at = event.id === undefined ? -1 : position.pending.lastIndexOf(event.id);
  const pending = at === -1 ? [] : position.pending.slice(at + 1);
  // Of several quick keys, the address of an earlier one must not show its record again.
  return { ahead: pending.length === 0 ? undefined : position.ahead, pending };
}

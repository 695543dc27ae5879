import type { ReplayVerdict } from './replay-messages.ts';

/** What the code made of a screen, for people: `Cart, acts; tap "Pay"`. */
export function describeVerdict(verdict: ReplayVerdict): string {
  if (verdict.kind === 'state') return [`${verdict.state}, ${verdict.next}`, ...verdict.did].join('; ');
  if (verdict.kind === 'threw' && verdict.path !== null)
    return `${verdict.message} (${verdict.path}:${verdict.line})`;
  if ('message' in verdict) return verdict.message;
  return verdict.kind === 'ended' ? 'the code ends and stores nothing' : 'the code acts and stores nothing';
}

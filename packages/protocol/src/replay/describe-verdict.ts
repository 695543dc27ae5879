import type { ReplayVerdict, SequenceMoment, SequenceResult } from './replay-messages.ts';

/** What the code made of a screen, for people: `Cart, acts; tap "Pay"`. */
export function describeVerdict(verdict: ReplayVerdict): string {
  if (verdict.kind === 'state') return [`${verdict.state}, ${verdict.next}`, ...verdict.did].join('; ');
  if (verdict.kind === 'threw' && verdict.path !== null)
    return `${verdict.message} (${verdict.path}:${verdict.line})`;
  if ('message' in verdict) return verdict.message;
  return verdict.kind === 'ended' ? 'the code ends and stores nothing' : 'the code acts and stores nothing';
}

/** Where a replay of a record in order has come to another end, for people: one line, screens counted from 1. */
export function describeSequence(result: SequenceResult): string {
  if (result.kind === 'same') return `all ${result.screens} screens as the record tells`;
  const place = `screen ${result.index + 1}: `;
  if (result.kind === 'diverges')
    return `${place}${momentText(result.saved, result.in)} → ${momentText(result.now, result.in)}`;
  if (result.kind === 'ended') return `${place}the run ${endWords[result.how]} here, and the record goes on`;
  if (result.kind === 'threw' && result.path !== null)
    return `${place}threw ${result.message} (${result.path}:${result.line})`;
  return `${place}${sequenceWords[result.kind]} ${result.message}`;
}

const sequenceWords = {
  threw: 'threw',
  waits: 'waits in vain:',
  cannot: 'can’t be replayed:',
  limit: 'the code',
} as const;

const endWords = {
  submits: 'gives up',
  throws: 'throws',
  arrives: 'has arrived',
  ends: 'ends',
} as const;

function momentText({ stage, state, calls, ends }: SequenceMoment, what: 'screen' | 'calls' | 'end'): string {
  if (what === 'screen') return stage === '' ? state : `${state} on the way to ${JSON.stringify(stage)}`;
  const did = calls.length === 0 ? 'nothing' : calls.join('; ');
  if (what === 'calls') return `${state}, ${did}`;
  return ends === null ? `goes on with ${did}` : endWords[ends];
}

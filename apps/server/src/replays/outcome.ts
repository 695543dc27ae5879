import {
  type GoldenExpectation,
  isExpected,
  isHandled,
  isUnknownState,
  type ReplayChange,
  type ReplayOutcome,
  type ReplayVerdict,
} from '@phalanx/protocol';

/** What a verdict says of a screen; `expect` is of golden screens. */
export function outcomeOf(verdict: ReplayVerdict, expect: GoldenExpectation | null): ReplayOutcome {
  if (verdict.kind === 'threw' || verdict.kind === 'limit') return 'failed';
  if (verdict.kind !== 'state') return 'not_told';
  if (expect !== null) return isExpected(expect, verdict) ? 'expected' : 'unexpected';
  if (isUnknownState(verdict.state)) return 'unknown';
  return isHandled(verdict) ? 'handled' : 'recognised';
}

export const isKnown = (outcome: ReplayOutcome): boolean =>
  outcome === 'handled' || outcome === 'recognised' || outcome === 'expected';

export function changeOf(outcome: ReplayOutcome, wasKnown: boolean): ReplayChange {
  if (isKnown(outcome) === wasKnown) return 'unchanged';
  return wasKnown ? 'broken' : 'recognised';
}

import { distanceOf } from '@phalanx/automation/nearest-texts';
import type { ReplayedScreen } from '@phalanx/host/replays';
import {
  describeSequence,
  type GoldenExpectation,
  type GoldenScreen,
  isExpectedState,
  isHandled,
  isSameState,
  type MissedSearch,
  type ReplayVerdict,
  type SequenceResult,
  type UiNode,
} from '@phalanx/protocol';

/** Reason why a golden screen or run is not as expected. */
export interface Failure {
  /** Kind for programs: `threw` and `limit` are errors of the code, the others are results that differ. */
  kind: 'state' | 'handled' | 'no_state' | 'run' | 'threw' | 'limit';
  /** One line. */
  message: string;
  /** Hints, a line each. */
  details: string[];
}

/** Returns the failure of a golden run; undefined if it is as expected. */
export function judgeRun(result: SequenceResult): Failure | undefined {
  if (result.kind === 'same') return undefined;
  const isFault = result.kind === 'threw' || result.kind === 'limit';
  const [message = '', ...details] = linesOf(describeSequence(result));
  return { kind: isFault ? result.kind : 'run', message, details };
}

/** Returns the failure of a golden screen; undefined if it is as expected. */
export function judge(golden: GoldenScreen, { verdict, missed }: ReplayedScreen): Failure | undefined {
  const { expect } = golden;
  if (verdict.kind !== 'state') return withoutState(expect, verdict);
  if (!isExpectedState(expect, verdict)) {
    const isState = expect.state === undefined || isSameState(verdict.state, expect.state);
    const message = `expected ${wordsOf(expect)}, got ${JSON.stringify(verdict.state)}`;
    return { kind: 'state', message, details: isState ? [] : nearestSigns(golden.tree.root, missed) };
  }
  if (expect.handled === undefined || isHandled(verdict) === expect.handled) return undefined;
  const message = expect.handled
    ? `is recognised as ${verdict.state}, but the code does not handle it: ${followUps[verdict.next]}`
    : `is recognised as ${verdict.state} and handled, but must not be handled`;
  const did = verdict.did.length === 0 ? [] : [`it did: ${verdict.did.join('; ')}`];
  return { kind: 'handled', message, details: [...linesOf(verdict.message), ...did] };
}

type StateVerdict = Extract<ReplayVerdict, { kind: 'state' }>;

const followUps: Record<StateVerdict['next'], string> = {
  acts: 'it acts',
  arrives: 'it has arrived',
  waits: 'it waits',
  gives_up: 'it gives up',
  ends: 'it ends',
  throws: 'its action fails',
};

function wordsOf({ state, not = [] }: GoldenExpectation): string {
  const names = not.map((name) => JSON.stringify(name)).join(' or ');
  return [state === undefined ? '' : JSON.stringify(state), names && `not ${names}`]
    .filter(Boolean)
    .join(' and ');
}

function withoutState(expect: GoldenExpectation, verdict: Exclude<ReplayVerdict, StateVerdict>): Failure {
  const expected = `expected ${wordsOf(expect)}, but the code`;
  if (verdict.kind === 'threw') {
    const place = verdict.path === null ? '' : ` (${verdict.path}:${verdict.line})`;
    const [first = '', ...more] = linesOf(verdict.message);
    return { kind: 'threw', message: `the code threw ${first}${place}`, details: more };
  }
  if (verdict.kind === 'limit') return { kind: 'limit', message: `the code ${verdict.message}`, details: [] };
  const [how = '', ...details] = linesOf(howItWent(verdict));
  return { kind: 'no_state', message: `${expected} ${how}`, details: [...details, ...waysToTell] };
}

function howItWent(verdict: Exclude<ReplayVerdict, { kind: 'state' | 'threw' | 'limit' }>): string {
  if (verdict.kind === 'waits') return `stores no screen. ${verdict.message}`;
  if (verdict.kind === 'cannot') return `stores no screen before it needs a real phone: ${verdict.message}`;
  if (verdict.kind === 'acts_blind') return 'stores no screen, and repeats its actions';
  return 'stores no screen and ends';
}

const waysToTell = [
  'Code can report the state of a screen in three ways: with runStages; with agent.utils.outOfSteps.storeScreen',
  '(the third argument is the state); or with a default export in screens/recognise.ts that maps a screen to a state.',
];

const linesOf = (text: string | null): string[] => (text === null ? [] : text.split('\n'));

/** Maximum distance of a near match. A sign that is further away is another sign. */
const maxDistance = 0.5;
const maxListed = 4;

/** Returns the missed sign that is nearest to something on the screen. If none is near, lists the missed signs. */
function nearestSigns(root: UiNode, missed: readonly MissedSearch[]): string[] {
  const there = nodesOf(root);
  const found = missed.flatMap(({ by, wanted }) => {
    const words = by === 'id' ? there.flatMap(shortId) : there.flatMap(textsOf);
    const name = by === 'id' ? (wanted.split(':id/').at(-1) ?? wanted) : wanted;
    return words.map((word) => ({
      by,
      wanted,
      word,
      distance: distanceOf(word.toLowerCase(), name.toLowerCase()),
    }));
  });
  const [nearest] = found.filter(({ by }) => by !== 'conditions').sort((a, b) => a.distance - b.distance);
  if (nearest !== undefined && nearest.distance <= maxDistance)
    return [`nearest sign: no ${nearest.by} "${nearest.wanted}", but "${nearest.word}"`];
  if (missed.length === 0) return [];
  const listed = missed.slice(0, maxListed).map(({ by, wanted }) => `${by} "${wanted}"`);
  return [
    `not found: ${listed.join(', ')}${missed.length > maxListed ? ` and ${missed.length - maxListed} more` : ''}`,
  ];
}

function nodesOf(root: UiNode): UiNode[] {
  const found = [root];
  for (const node of found) found.push(...node.children);
  return found;
}

const shortId = ({ viewId }: UiNode): string[] =>
  viewId === null ? [] : [viewId.split(':id/').at(-1) ?? viewId];
const textsOf = ({ text, description }: UiNode): string[] =>
  [text, description].filter((one) => one !== null);

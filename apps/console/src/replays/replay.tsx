import {
  describeVerdict,
  type Replay,
  type ReplayedScreenView,
  type SequenceOutcome,
} from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import styles from './replays.module.css';
import { call } from '../api/call.ts';

/** Such as `3 now recognised, 1 newly broken`; empty where there was nothing to replay. */
export function boardText({ status, problem, counts, sequence }: Replay): string {
  if (status === 'waiting') return problem === '' ? 'waits to be replayed' : `waits: ${problem}`;
  if (status === 'running') return `${counts.replayed} of ${counts.screens} screens replayed`;
  if (status === 'failed') return `not replayed: ${problem}`;
  if (status === 'stopped') return 'replay stopped';
  if (sequence !== null) return sequenceText(sequence);
  if (counts.screens === 0) return '';
  const parts = [
    ...(counts.recognised === 0 ? [] : [`${counts.recognised} now recognised`]),
    ...(counts.broken === 0 ? [] : [`${counts.broken} newly broken`]),
    ...(counts.not_told === 0 ? [] : [`${counts.not_told} not replayable`]),
  ];
  return parts.length === 0 ? `no change on ${counts.screens} screens` : parts.join(', ');
}

function sequenceText({ result, own_code: own }: SequenceOutcome): string {
  if (result.kind === 'same') return 'a run goes the same way';
  return own === 'not_reproducible' ? 'a record is not reproducible' : 'a run goes otherwise';
}

/** The newest replay of each commit, by its hash. */
export function replaysByCommit(replays: readonly Replay[]): ReadonlyMap<string, Replay> {
  const found = new Map<string, Replay>();
  for (const replay of replays)
    if (
      replay.commit !== null &&
      replay.set === 'all' &&
      replay.group_id === null &&
      !found.has(replay.commit)
    )
      found.set(replay.commit, replay);
  return found;
}

const outcomes: Record<ReplayedScreenView['outcome'], string> = {
  handled: 'recognised, and the code acts',
  recognised: 'recognised, but the code does nothing',
  unknown: 'unknown',
  expected: 'as expected',
  unexpected: 'not as expected',
  not_told: 'not replayable',
  failed: 'failed',
};

export const outcomeText = ({ outcome }: ReplayedScreenView): string => outcomes[outcome];

export function verdictText({ expected, verdict }: ReplayedScreenView): string {
  return `${expected === null ? '' : `expected ${expected}: `}${describeVerdict(verdict)}`;
}

/** What came of a replay, as a link to its screens. */
export function ReplayLink({ replay, lead = '' }: { replay: Replay; lead?: string }) {
  const text = boardText(replay);
  if (text === '') return null;
  return (
    <Link
      className={styles['board']}
      data-broken={replay.counts.broken > 0}
      to="/projects/$projectId/replays"
      params={{ projectId: replay.project_id }}
      search={{ replay: replay.id }}
    >
      {lead}
      {text}
    </Link>
  );
}

/** More than a project has. */
const mostReplays = 100;
const shownScreens = 200;
/** Each may have a picture. */
const shownChanges = 50;

/** Newest first. */
export const replaysQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['replays', 'list', projectId],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Replay[]> => {
      const input = { params: { id: projectId }, query: { limit: mostReplays } };
      return (await call('GET /api/v2/automation/replays/:id', input, { signal })).replays;
    },
  });

const lookMs = 700;

/** One replay, until it has ended. */
export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: ['replays', 'one', id],
    queryFn: async ({ signal }): Promise<Replay> =>
      (await call('GET /api/v2/replays/:id', { params: { id } }, { signal })).replay,
    refetchInterval: ({ state }) => (typeof state.data?.ended_at === 'number' ? false : lookMs),
  });

/** The first screens of a replay, those of which it says something new, or those of a group. */
export const verdictsQuery = (id: string, onlyChanged: boolean, groupId?: string) =>
  queryOptions({
    queryKey: ['replays', 'verdicts', id, onlyChanged, groupId],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReplayedScreenView[]> => {
      const query = {
        ...(onlyChanged ? { limit: shownChanges, changed: 'true' as const } : { limit: shownScreens }),
        ...(groupId === undefined ? {} : { group_id: groupId }),
      };
      return (await call('GET /api/v2/replays/:id/verdicts', { params: { id }, query }, { signal })).verdicts;
    },
  });

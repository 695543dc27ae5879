import {
  describeVerdict,
  type Replay,
  type ReplayedScreenView,
  type SequenceOutcome,
  describeSequence,
} from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import styles from './replays.module.css';
import { call, localAddress } from '../../api/call.ts';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { groupName, groupQuery } from '../records/record.tsx';

/** Describes a result, such as `3 now recognised, 1 newly broken`. Empty if there was nothing to replay. */
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
  const screens = counts.screens === 1 ? 'one screen' : `${counts.screens} screens`;
  return parts.length === 0 ? `no change on ${screens}` : parts.join(', ');
}

function sequenceText({ result, own_code: own }: SequenceOutcome): string {
  if (result.kind === 'same') return 'a run goes the same way';
  return own === 'not_reproducible' ? 'a record is not reproducible' : 'a run goes differently';
}

/** Returns the newest replay of each commit, by commit hash. */
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

const outcomeText = ({ outcome }: ReplayedScreenView): string => outcomes[outcome];

function verdictText({ expected, verdict }: ReplayedScreenView): string {
  return `${expected === null ? '' : `expected ${expected}: `}${describeVerdict(verdict)}`;
}

/** Result of a replay, as a link to the replay's screens. */
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

/** Maximum number of replays that the page reads; a project keeps fewer. */
const maxReplays = 100;
const shownScreens = 200;
/** Maximum number of changed screens shown at first, because each may load a picture. */
const shownChanges = 50;

/** Query for the replays of a project, newest first. */
export const replaysQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['replays', 'list', projectId],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Replay[]> => {
      const input = { params: { id: projectId }, query: { limit: maxReplays } };
      return (await call('GET /api/v2/automation/replays/:id', input, { signal })).replays;
    },
  });

const lookMs = 700;

/** Query for one replay, refetched until it has ended. */
export const replayQuery = (id: string) =>
  queryOptions({
    queryKey: ['replays', 'one', id],
    queryFn: async ({ signal }): Promise<Replay> =>
      (await call('GET /api/v2/replays/:id', { params: { id } }, { signal })).replay,
    refetchInterval: ({ state }) => (typeof state.data?.ended_at === 'number' ? false : lookMs),
  });

/** Query for the first screens of a replay: all, those whose verdict changed, or those of a group. */
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

/** Verdicts on the screens, changed ones first. */
export function ReplayDetail({ replay }: { replay: Replay }) {
  const { counts } = replay;
  if (replay.record_id !== null) return <OfRecord replay={replay} recordId={replay.record_id} />;
  return (
    <section className={styles['section']} aria-label="Result">
      <h2>{codeName(replay)}</h2>
      <p role="status">
        {boardText(replay) ||
          'There is no screen to replay yet. Screens come from groups of records, and from “phalanx records keep”.'}
      </p>
      {counts.screens > 0 && (
        <p className={styles['quiet']}>
          {counts.known} of {counts.screens} screens known
        </p>
      )}
      {counts.not_told > 0 && <NotReplayable count={counts.not_told} />}
      <Verdicts replay={replay} />
    </section>
  );
}

/** Changed verdicts first. If there are any, the full list, which repeats them, starts collapsed. */
function Verdicts({ replay }: { replay: Replay }) {
  const { recognised, broken, replayed } = replay.counts;
  const [isOpen, setOpen] = useState(false);
  if (replayed === 0) return null;
  if (recognised + broken === 0) return <Screens replay={replay} onlyChanged={false} />;
  return (
    <>
      <h3>What is new</h3>
      <Screens replay={replay} onlyChanged />
      <details className={styles['all']} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{replayed === 1 ? 'The screen' : `All ${replayed} screens`}</summary>
        {isOpen && <Screens replay={replay} onlyChanged={false} />}
      </details>
    </>
  );
}

const OfRecord = ({ replay, recordId }: { replay: Replay; recordId: string }) => (
  <section className={styles['section']} aria-label="Result">
    <h2>{codeName(replay)}</h2>
    <p role="status">
      {boardText(replay)}
      {replay.sequence !== null && `: ${describeSequence(replay.sequence.result)}`}
    </p>
    <Link to="/records" search={{ record: recordId, status: 'any' }}>
      The record
    </Link>
  </section>
);

/** Returns the name of the replayed code, such as `Commit 4f372a3`. */
export function codeName({ commit, draft }: Replay): string {
  if (draft) return 'Draft';
  return commit === null ? 'Saved files' : `Commit ${commit.slice(0, 8)}`;
}

export const NotReplayable = ({ count }: { count: number }) => (
  <div role="note" className={styles['ways']}>
    The code does not report a state for {count === 1 ? 'one screen' : `${count} screens`}, so{' '}
    {count === 1 ? 'it is' : 'they are'} not replayable. Three ways to change this:
    <ol>
      <li>
        Let <code>runStages</code> run the code: it stores each screen.
      </li>
      <li>
        In your own loop, call <code>agent.utils.outOfSteps.storeScreen</code> with the state before you act.
      </li>
      <li>
        Keep the screen as a golden screen, and name its state in <code>screens/recognise.ts</code>, which{' '}
        <code>phalanx test</code> asks.
      </li>
    </ol>
  </div>
);

const pictureColumn: Column<ReplayedScreenView> = {
  header: 'Screen',
  width: 'grow',
  isMain: true,
  content: (shown) => <ScreenName shown={shown} hasPicture />,
};
const nameColumn: Column<ReplayedScreenView> = {
  ...pictureColumn,
  content: (shown) => <ScreenName shown={shown} hasPicture={false} />,
};
const verdictColumns: readonly Column<ReplayedScreenView>[] = [
  { header: 'Outcome', width: 'grow', text: outcomeText },
  { header: 'Change', width: 'fit', text: changeText },
  { header: 'What the code does', width: 'grow', minimum: 160, text: verdictText },
];

export function Screens({ replay, onlyChanged }: { replay: Replay; onlyChanged: boolean }) {
  const { data, error } = useQuery(verdictsQuery(replay.id, onlyChanged));
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  const all = onlyChanged ? replay.counts.recognised + replay.counts.broken : replay.counts.replayed;
  return (
    <>
      <Table
        label={onlyChanged ? 'What is new' : 'All screens'}
        columns={onlyChanged ? [pictureColumn, ...verdictColumns] : [nameColumn, ...verdictColumns]}
        rows={data}
        keyOf={({ position }) => String(position)}
      />
      {data.length < all && (
        <p className={styles['quiet']}>
          The first {data.length} of {all} are shown; <code>phalanx replay</code> lists all.
        </p>
      )}
    </>
  );
}

function changeText({ change }: ReplayedScreenView): string {
  if (change === 'unchanged') return '';
  return change === 'broken' ? 'newly broken' : 'now recognised';
}

const ScreenName = ({ shown, hasPicture }: { shown: ReplayedScreenView; hasPicture: boolean }) =>
  shown.group_id === null ? (
    <code>{shown.name}</code>
  ) : hasPicture ? (
    <PictureOfGroup id={shown.group_id} />
  ) : (
    <Link to="/groups" search={{ group: shown.group_id, status: 'any' }}>
      Group {shown.group_id.slice(-12)}
    </Link>
  );

function PictureOfGroup({ id }: { id: string }) {
  const { data } = useQuery(groupQuery(id));
  const name = data === undefined ? `Group ${id.slice(-12)}` : groupName(data.group);
  const picture = data?.group.sample?.screen.screenshot.screenshotUrl ?? null;
  return (
    <Link className={styles['screen']} to="/groups" search={{ group: id, status: 'any' }}>
      {picture !== null && <img loading="lazy" src={localAddress(picture)} alt="" />}
      {name}
    </Link>
  );
}

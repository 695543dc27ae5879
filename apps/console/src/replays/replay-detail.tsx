import { describeSequence, type Replay, type ReplayedScreenView } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { SettingsTable } from '../access/settings-table.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { groupName } from '../records/marks.tsx';
import { groupQuery } from '../records/queries.ts';
import { localAddress } from '../api/call.ts';
import { verdictsQuery, boardText, outcomeText, verdictText } from './replay.tsx';
import styles from './replays.module.css';

/** What the code made of each screen: first what is new. */
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
      {counts.recognised + counts.broken > 0 && <Screens replay={replay} onlyChanged />}
      {counts.replayed > 0 && <Screens replay={replay} onlyChanged={false} />}
    </section>
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

/** Such as `Commit 4f372a3`. */
export function codeName({ commit, draft }: Replay): string {
  if (draft) return 'Draft';
  return commit === null ? 'Saved files' : `Commit ${commit.slice(0, 8)}`;
}

export const NotReplayable = ({ count }: { count: number }) => (
  <div role="note" className={styles['ways']}>
    The code does not say what it takes {count === 1 ? 'one screen' : `${count} screens`} for, so{' '}
    {count === 1 ? 'it is' : 'they are'} not replayable. Three ways to make {count === 1 ? 'it' : 'them'} so:
    <ol>
      <li>
        Let <code>runStages</code> run the code: it stores each screen.
      </li>
      <li>
        In a loop of your own, call <code>agent.utils.outOfSteps.storeScreen</code> with the state before you
        act.
      </li>
      <li>
        Keep the screen as a golden screen, and say what it is in <code>screens/recognise.ts</code>, which{' '}
        <code>phalanx test</code> asks.
      </li>
    </ol>
  </div>
);

export function Screens({ replay, onlyChanged }: { replay: Replay; onlyChanged: boolean }) {
  const { data, error } = useQuery(verdictsQuery(replay.id, onlyChanged));
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return <Loading rows={3} />;
  const all = onlyChanged ? replay.counts.recognised + replay.counts.broken : replay.counts.replayed;
  return (
    <>
      <SettingsTable
        label={onlyChanged ? 'What is new' : 'All screens'}
        columns={['Screen', 'Outcome', 'Change', 'What the code does']}
      >
        {data.map((shown) => (
          <tr key={shown.position}>
            <td>
              <ScreenName shown={shown} hasPicture={onlyChanged} />
            </td>
            <td>{outcomeText(shown)}</td>
            <td>{changeText(shown)}</td>
            <td className={styles['quiet']}>{verdictText(shown)}</td>
          </tr>
        ))}
      </SettingsTable>
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

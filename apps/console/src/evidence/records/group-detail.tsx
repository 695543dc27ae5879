import { ServiceError } from '@phalanx/client/service-errors';
import type { GroupRecord, GroupVerdict, RecordGroup } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { useMissingScope } from '../../api/me.ts';
import { deviceName } from '../../fleet/devices/device.tsx';
import { Button } from '../../parts/button.tsx';
import { Input } from '../../parts/field.tsx';
import { Empty, InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { useProjectNames } from '../../code/projects/project.tsx';
import { ProposeFix } from './fix-proposal.tsx';
import {
  GroupStatusMark,
  groupName,
  reasonText,
  RecordStatusMark,
  groupQuery,
  groupRecordsQuery,
} from './record.tsx';
import styles from './groups.module.css';
import { localAddress } from '../../api/call.ts';
import { toggled, type useGroupDesk } from './use-group-desk.ts';
import { RemovalButton } from '../../parts/removal-button.tsx';

type Desk = ReturnType<typeof useGroupDesk>;

const phoneOf = ({ device_info: info }: GroupRecord): string =>
  deviceName({ ...info, name: '', serial: info.device_id });

/** Group with pictures of up to eight phones and its records. */
export function GroupDetail({ id, desk }: { id: string; desk: Desk }) {
  const { data, error } = useQuery(groupQuery(id));
  const isGone = error instanceof ServiceError && error.code === 'group_not_found';
  if (isGone) return <Empty title="Group not found">It was deleted, or you have no access to it.</Empty>;
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return <Loading rows={6} />;
  const { group, screens, last_change: change, newest_verdict: verdict, app_versions: versions } = data;
  return (
    <section className={styles['detail']} aria-label="Group">
      <Facts group={group} />
      {group.error !== null && <GroupErrorBox group={group} error={group.error} />}
      <p className={styles['quiet']}>
        App versions {spreadText(versions.map(({ version, records }) => [version, records]))} · languages{' '}
        {spreadText(data.languages.map(({ language, records }) => [language, records]))}
      </p>
      {verdict !== null && <NewestVerdict projectId={group.automation_id} verdict={verdict} />}
      <div className={styles['phones']}>
        {screens.map((shown) => (
          <Phone key={shown.record_id} shown={shown} />
        ))}
      </div>
      <Verdicts group={group} desk={desk} undo={change === null ? undefined : change.kind} />
      {group.error === null || data.kept_screens.length > 0 ? (
        <ProposeFix key={group.id} group={group} userId={desk.userId} />
      ) : null}
      <KeptScreens names={data.kept_screens} onDelete={desk.deleteScreen} />
      <Members id={id} desk={desk} />
    </section>
  );
}

/** Returns counts by value, such as `8.1.2 (7 records), not known (1 record)`. */
const spreadText = (counts: readonly (readonly [string | null, number])[]): string =>
  counts.length === 0
    ? 'not known'
    : counts
        .map(
          ([value, records]) =>
            `${value ?? 'not known'} (${records} ${records === 1 ? 'record' : 'records'})`,
        )
        .join(', ');

const Facts = ({ group }: { group: RecordGroup }) => (
  <div className={styles['facts']}>
    <h2>{groupName(group)}</h2>
    <GroupStatusMark group={group} />
    {group.solved_in !== null && (
      <span className={styles['quiet']}>
        solved in <code>{group.solved_in.slice(0, 8)}</code>
        {group.proved !== null && `, ${proofText[group.proved]}`}
      </span>
    )}
    {group.reopened_by !== null && (
      <Link to="/records" search={{ record: group.reopened_by, status: 'any' }}>
        The record that reopened it
      </Link>
    )}
    <span className={styles['quiet']}>
      {group.screen_state}
      {group.next_stage !== '' && ` on the way to ${group.next_stage}`}
    </span>
    <span className={styles['quiet']}>{group.package_name}</span>
    <span className={styles['quiet']}>
      first seen <Moment at={group.first_seen} />
    </span>
    <CodeOf group={group} />
    {group.assignee !== null && <span>assigned to {group.assignee.name}</span>}
  </div>
);

/** Uncaught error of the group. Its location opens the current code. */
function GroupErrorBox({ group, error }: { group: RecordGroup; error: NonNullable<RecordGroup['error']> }) {
  const isProject = useProjectNames().has(group.automation_id);
  const [file, line] = error.place?.split(/:(?=\d+$)/) ?? [];
  return (
    <section className={styles['error']} aria-label="Error">
      <h3>
        <code>{error.name}</code>
        {file !== undefined && ' at '}
        {file !== undefined && isProject && (
          <Link
            to="/projects/$projectId"
            params={{ projectId: group.automation_id }}
            search={{ file, line: Number(line) }}
          >
            {error.place}
          </Link>
        )}
        {file !== undefined && !isProject && error.place}
      </h3>
      <p>{error.message}</p>
    </section>
  );
}

/** Link to the code, to try changes on the screens of the group. */
const CodeOf = ({ group: { id, automation_id: projectId } }: { group: RecordGroup }) =>
  useProjectNames().has(projectId) ? (
    <Link to="/projects/$projectId" params={{ projectId }} search={{ group: id }}>
      Code
    </Link>
  ) : null;

const proofText: Record<NonNullable<RecordGroup['proved']>, string> = {
  yes: 'proved by its replay',
  no: 'but its replay does not know or handle all of these screens',
  not_replayable: 'which a replay can’t prove',
};

function NewestVerdict({ projectId, verdict }: { projectId: string; verdict: GroupVerdict }) {
  const { commit, screens, known, handled, not_told: notTold } = verdict;
  const code = commit === null ? 'The saved code' : `Commit ${commit.slice(0, 8)}`;
  const idle = known === handled ? '' : `, and acts on ${handled}`;
  return (
    <p className={styles['quiet']}>
      {code} knows {known} of {screens} kept screens{idle}
      {notTold > 0 && ` (${notTold} not replayable)`}.{' '}
      <Link to="/projects/$projectId/replays" params={{ projectId }} search={{ replay: verdict.replay_id }}>
        Replay
      </Link>
    </p>
  );
}

function Phone({ shown }: { shown: GroupRecord }) {
  const { screenshotUrl: picture, originalWidth, originalHeight } = shown.screen.screenshot;
  const name = phoneOf(shown);
  return (
    <figure className={styles['phone']}>
      <Link to="/records" search={{ record: shown.record_id, status: 'any' }}>
        {picture === null ? (
          <span className={styles['blank']}>no picture</span>
        ) : (
          <img
            loading="lazy"
            src={localAddress(picture)}
            alt={`Screen of ${name}`}
            width={originalWidth || 9}
            height={originalHeight || 20}
          />
        )}
      </Link>
      <figcaption>
        {name} · Android {shown.device_info.android_version}
        {shown.app !== null && shown.app.version !== null && ` · app ${shown.app.version}`}
      </figcaption>
    </figure>
  );
}

function Verdicts({ group, desk, undo }: { group: RecordGroup; desk: Desk; undo: string | undefined }) {
  const missing = useMissingScope('review');
  const [commit, setCommit] = useState('');
  const hash = commit.trim();
  const isMine = group.assignee?.id === desk.userId;
  const others = [...desk.selected].filter((id) => id !== group.id).length;
  return (
    <div className={styles['verdicts']}>
      <Button
        look={group.status === 'solved' ? 'plain' : 'primary'}
        reason={missing}
        onClick={() => void desk.mark('solved', hash === '' ? undefined : hash)}
      >
        Solved <kbd>e</kbd>
      </Button>
      <Input
        className={styles['short']}
        aria-label="Commit that solves it"
        placeholder="in commit"
        value={commit}
        onChange={(event) => setCommit(event.target.value)}
      />
      <Button reason={missing} onClick={() => void desk.mark('ignored')}>
        Ignore <kbd>i</kbd>
      </Button>
      {group.status !== 'open' && (
        <Button reason={missing} onClick={() => void desk.mark('open')}>
          Reopen <kbd>r</kbd>
        </Button>
      )}
      <Button look="quiet" reason={missing} onClick={() => void desk.assign(isMine ? null : desk.userId)}>
        {isMine ? 'Unassign' : 'Assign to me'} <kbd>a</kbd>
      </Button>
      {others > 0 && (
        <Button look="quiet" reason={missing} onClick={() => void desk.merge()}>
          Merge {others} into this <kbd>m</kbd>
        </Button>
      )}
      {undo !== undefined && (
        <Button look="quiet" reason={missing} onClick={() => void desk.undo()}>
          Undo {undo} <kbd>z</kbd>
        </Button>
      )}
      {missing !== undefined && <span className={styles['quiet']}>{missing}</span>}
    </div>
  );
}

function Members({ id, desk }: { id: string; desk: Desk }) {
  const { data, error } = useQuery(groupRecordsQuery(id));
  const missing = useMissingScope('review');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (error !== null) return <InlineFailure error={error} />;
  if (data === undefined) return <Loading rows={4} />;
  if (data.length === 0) return <p className={styles['quiet']}>Its records have been deleted.</p>;
  const isAll = chosen.size === data.length ? 'All records of the group are selected.' : undefined;
  return (
    <>
      <Table
        label="Records"
        columns={memberColumns(chosen, (recordId) => setChosen(toggled(chosen, recordId)))}
        rows={data}
        keyOf={({ record_id: recordId }) => recordId}
      />
      {chosen.size > 0 && (
        <Button reason={missing ?? isAll} onClick={() => void desk.split([...chosen])}>
          Move {chosen.size} to a new group
        </Button>
      )}
    </>
  );
}

const memberColumns = (
  chosen: ReadonlySet<string>,
  onToggle: (recordId: string) => void,
): Column<GroupRecord>[] => [
  {
    header: 'Record',
    width: 'fit',
    isMain: true,
    content: ({ record_id: id, added }) => (
      <>
        <input
          type="checkbox"
          aria-label={`Select record ${id}`}
          checked={chosen.has(id)}
          onChange={() => onToggle(id)}
        />{' '}
        <Link to="/records" search={{ record: id, status: 'any' }}>
          <Moment at={Date.parse(added)} />
        </Link>
      </>
    ),
  },
  { header: 'Phone', width: 'grow', text: phoneOf },
  {
    header: 'State',
    width: 'fit',
    content: ({ status, outdated }) => (
      <>
        <RecordStatusMark status={status} />
        {outdated && ' outdated'}
      </>
    ),
  },
  { header: 'Commit', width: 'fit', text: ({ commit }) => commit?.slice(0, 8) ?? '' },
  { header: 'Reason', width: 'grow', minimum: 140, text: ({ reason }) => reasonText(reason) },
];

interface Props {
  /** Names of the screens as they appear in verdicts of replays. */
  names: readonly string[];
  onDelete: (name: string) => Promise<void>;
}

/** Copies of a group's screens for replays. They outlive their records. */
function KeptScreens({ names, onDelete }: Props) {
  const missing = useMissingScope('review');
  if (names.length === 0) return null;
  return (
    <details className={styles['kept']}>
      <summary>
        {names.length === 1 ? '1 screen is kept for replays' : `${names.length} screens are kept for replays`}
      </summary>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
            <RemovalButton
              name="this screen"
              label={`Delete screen ${name}`}
              reason={missing}
              onRemove={() => onDelete(name)}
            >
              <p>
                No replay uses <code>{name}</code> again. Records that show it stay. This cannot be undone.
              </p>
            </RemovalButton>
          </li>
        ))}
      </ul>
    </details>
  );
}

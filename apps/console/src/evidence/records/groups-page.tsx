import type { RecordGroup } from '@phalanx/protocol';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { useMissingScope } from '../../api/me.ts';
import { buttonClass } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { useKeys } from '../../parts/keys.tsx';
import { countText, Page } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Moment } from '../../parts/time.tsx';
import { ProjectSelect } from '../../code/projects/project.tsx';
import { ReviewTabs } from './review-tabs.tsx';
import { GroupDetail } from './group-detail.tsx';
import { GroupStatusMark, groupName } from './record.tsx';
import { groupStatuses, type GroupsSearch } from './records-search.ts';
import styles from './groups.module.css';
import { localAddress } from '../../api/call.ts';
import { useGroupDesk } from './use-group-desk.ts';

/** Groups of records that show the same screen or the same error, with the status of each group. */
export function GroupsPage() {
  const desk = useGroupDesk();
  const { data, error, refetch } = desk.query;
  useDeskKeys(desk);
  return (
    <Page
      title="Review"
      part="Groups"
      tabs={<ReviewTabs />}
      aside={data !== undefined && <span role="status">{countText(data.length, data.length)}</span>}
      bar={<Filters search={desk.search} onChange={desk.filter} />}
    >
      {data === undefined && error === null && <Loading rows={8} />}
      {data === undefined && error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && desk.search.group === undefined && <Nothing search={desk.search} />}
      {data !== undefined && desk.chosen !== undefined && (
        <div className={styles['desk']}>
          <GroupList desk={desk} />
          <GroupDetail key={desk.chosen} id={desk.chosen} desk={desk} />
        </div>
      )}
    </Page>
  );
}

type Desk = ReturnType<typeof useGroupDesk>;

const once =
  (action: () => void) =>
  ({ repeat }: KeyboardEvent): void => {
    if (!repeat) action();
  };

function useDeskKeys(desk: Desk): void {
  const navigate = useNavigate();
  const missing = useMissingScope('review');
  const change = (action: () => unknown) => once(() => void (missing === undefined && action()));
  const group = desk.groups.find(({ id }) => id === desk.chosen);
  const record = group?.sample?.record_id;
  useKeys({
    j: once(() => desk.walk(1)),
    k: once(() => desk.walk(-1)),
    e: change(() => desk.mark('solved')),
    i: change(() => desk.mark('ignored')),
    r: change(() => desk.mark('open')),
    a: change(() => desk.assign(group?.assignee?.id === desk.userId ? null : desk.userId)),
    x: once(() => desk.chosen !== undefined && desk.select(desk.chosen)),
    m: change(() => desk.merge()),
    z: change(() => desk.undo()),
    o: once(
      () => record !== undefined && void navigate({ to: '/records', search: { record, status: 'any' } }),
    ),
  });
}

const Nothing = ({ search }: { search: GroupsSearch }) =>
  Object.keys(search).length === 0 ? (
    <Empty
      title="No open groups"
      action={
        <Link to="/groups" search={{ status: 'any' }} className={buttonClass()}>
          Show all groups
        </Link>
      }
    >
      A group contains records of unknown screens and timeouts that show the same screen, or crashes with the
      same error.
    </Empty>
  ) : (
    <Empty
      title="No groups match"
      action={
        <Link to="/groups" className={buttonClass()}>
          Show open groups
        </Link>
      }
    />
  );

function Filters({
  search,
  onChange,
}: {
  search: GroupsSearch;
  onChange: (changes: Record<string, string>) => void;
}) {
  return (
    <>
      <Select
        label="State"
        value={search.status ?? 'open'}
        options={[
          ...groupStatuses.map((status) => ({ value: status as string, label: `State: ${status}` })),
          { value: 'any', label: 'Any state' },
        ]}
        onChange={(status) => onChange({ status: status === 'open' ? '' : status })}
      />
      <ProjectSelect value={search.automation} onChange={(automation) => onChange({ automation })} />
      <Select
        label="Assignee"
        value={search.mine ?? ''}
        options={[
          { value: '', label: 'Any assignee' },
          { value: 'true', label: 'Assigned to me' },
        ]}
        onChange={(mine) => onChange({ mine })}
      />
      <Select
        label="Order"
        value={search.sort ?? ''}
        options={[
          { value: '', label: 'Last seen first' },
          { value: 'records', label: 'Most records first' },
        ]}
        onChange={(sort) => onChange({ sort })}
      />
    </>
  );
}

function GroupList({ desk }: { desk: Desk }) {
  return (
    <ul className={styles['list']} aria-label="Groups">
      {desk.groups.map((group) => (
        <li key={group.id} className={styles['row']} data-chosen={group.id === desk.chosen}>
          <input
            type="checkbox"
            aria-label={`Select ${groupName(group)} for merging`}
            checked={desk.selected.has(group.id)}
            onChange={() => desk.select(group.id)}
          />
          <GroupButton group={group} isChosen={group.id === desk.chosen} onOpen={() => desk.open(group.id)} />
        </li>
      ))}
    </ul>
  );
}

interface GroupButtonProps {
  group: RecordGroup;
  isChosen: boolean;
  onOpen: () => void;
}

function GroupButton({ group, isChosen, onOpen }: GroupButtonProps) {
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  const picture = group.sample?.screen.screenshot.screenshotUrl ?? null;
  return (
    <button ref={place} type="button" className={styles['item']} aria-current={isChosen} onClick={onOpen}>
      {picture === null ? (
        <span className={styles['blank']} aria-hidden="true" />
      ) : (
        <img loading="lazy" src={localAddress(picture)} alt="" width={44} height={80} />
      )}
      <span className={styles['words']}>
        <b title={groupName(group)}>{groupName(group)}</b>
        {group.error !== null && (
          <span className={styles['broken']}>
            {group.error.name}
            {group.error.place !== null && ` at ${group.error.place}`}
          </span>
        )}
        <span className={styles['quiet']}>{group.automation_name}</span>
        <span className={styles['quiet']}>
          {group.records} {group.records === 1 ? 'record' : 'records'} · {group.phones}{' '}
          {group.phones === 1 ? 'phone' : 'phones'} · <Moment at={group.last_seen} />
        </span>
        <span className={styles['line']}>
          <GroupStatusMark group={group} />
          {group.assignee !== null && <span className={styles['quiet']}>{group.assignee.name}</span>}
        </span>
      </span>
    </button>
  );
}

import type { Device } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { LaunchDialog } from '../../runs/launches/launch-dialog.tsx';
import { StopDialog } from '../../runs/launches/stop-dialog.tsx';
import { WaitingShares } from '../../code/shares/waiting-shares.tsx';
import { useMissingScope } from '../../api/me.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { SearchInput, Select } from '../../parts/field.tsx';
import { Mark } from '../../parts/mark.tsx';
import { countText, Page } from '../../parts/page.tsx';
import { type Selection, useSelection } from '../../parts/selection.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import type { TableSort } from '../../parts/table.tsx';
import { isReady, needsAttention, stateLooks, devicesQuery, useSelected } from './device.tsx';
import { countStates, findDevices, SelectorFilter } from './find-devices.tsx';
import styles from './fleet.module.css';
import { fleetSearch, type FleetSearch } from './fleet-search.ts';
import { FleetTable } from './fleet-table.tsx';
import { FleetWall } from './fleet-wall.tsx';
import { NoPhones } from './no-phones.tsx';
import { PairButton } from './pair-phone.tsx';

const route = getRouteApi('/devices');

export function FleetPage() {
  const { data: all, error, refetch } = useQuery(devicesQuery);
  const search = route.useSearch();
  const { ids: selected, problem } = useSelected(search.labels);
  const devices = useMemo(() => findDevices(all ?? [], search, selected), [all, search, selected]);
  const ids = useMemo(() => devices.map((device) => device.device_id), [devices]);
  const selection = useSelection(ids);
  const sort = useSort(search);
  return (
    <Page
      title="Fleet"
      aside={all !== undefined && <span>{countText(devices.length, all.length)}</span>}
      actions={
        <>
          <View search={search} />
          {selection.ids.size === 0 && <PairButton />}
          {selection.ids.size === 0 && <LaunchButton devices={devices} />}
        </>
      }
      bar={
        all !== undefined && all.length > 0 ? (
          <Filters devices={all} search={search} problem={problem} />
        ) : undefined
      }
    >
      {all === undefined && error === null && <Loading rows={12} />}
      {all === undefined && error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      <WaitingShares kinds={['device', 'host']} />
      {all?.length === 0 && <NoPhones />}
      {all !== undefined && all.length > 0 && (
        <div className={styles['frame']}>
          {devices.length === 0 ? (
            <NothingFound />
          ) : search.view === 'wall' ? (
            <FleetWall devices={devices} selection={selection} hasPictures={search.pictures !== false} />
          ) : (
            <FleetTable devices={devices} selection={selection} sort={sort} />
          )}
          <SelectionBar all={all} selection={selection} />
        </div>
      )}
    </Page>
  );
}

/** A single phone needs no selection; with several, the bar below the list has the button. */
function LaunchButton({ devices }: { devices: readonly Device[] }) {
  const [isOpen, setOpen] = useState(false);
  const missing = useMissingScope('launch');
  const usable = devices.filter((device) => isReady(device) && device.role !== 'view' && device.accepted);
  if (usable.length > 1) return null;
  const reason = usable.length === 0 ? 'No phone is ready.' : undefined;
  return (
    <>
      <Button look="primary" reason={missing ?? reason} onClick={() => setOpen(true)}>
        Launch…
      </Button>
      {isOpen && <LaunchDialog devices={usable} onClose={() => setOpen(false)} />}
    </>
  );
}

const NothingFound = () => (
  <Empty
    title="No phones match"
    action={
      <Link to="/devices" className={buttonClass()}>
        Show all phones
      </Link>
    }
  />
);

/** Sorts by column: the first click on a header sorts, the second reverses, the third resets. */
function useSort({ sort: by, descending }: FleetSearch): TableSort {
  const navigate = route.useNavigate();
  const isDescending = descending === true;
  return {
    by,
    isDescending,
    onSort: (wanted) =>
      void navigate({
        search: ({ sort: _sort, descending: _descending, ...rest }) =>
          fleetSearch({
            ...rest,
            ...(wanted === by && isDescending ? {} : { sort: wanted }),
            ...(wanted === by && !isDescending && { descending: true }),
          }),
        replace: true,
      }),
  };
}

function View({ search }: { search: FleetSearch }) {
  const navigate = route.useNavigate();
  const isWall = search.view === 'wall';
  const show = (view: 'wall' | undefined): void =>
    void navigate({ search: ({ view: _view, ...rest }) => (view === undefined ? rest : { ...rest, view }) });
  return (
    <>
      {isWall && (
        <label className={styles['toggle']}>
          <input
            type="checkbox"
            checked={search.pictures !== false}
            onChange={({ target }) =>
              void navigate({
                search: ({ pictures: _pictures, ...rest }) =>
                  target.checked ? rest : { ...rest, pictures: false },
                replace: true,
              })
            }
          />
          Pictures
        </label>
      )}
      <div className={styles['segments']} role="group" aria-label="View">
        <button type="button" aria-pressed={!isWall} onClick={() => show(undefined)}>
          Table
        </button>
        <button type="button" aria-pressed={isWall} onClick={() => show('wall')}>
          Wall
        </button>
      </div>
    </>
  );
}

function Filters({
  devices,
  search,
  problem,
}: {
  devices: readonly Device[];
  search: FleetSearch;
  problem: string | undefined;
}) {
  const navigate = route.useNavigate();
  const hosts = useMemo(
    () => [...new Map(devices.flatMap(({ host }) => (host === null ? [] : [[host.id, host.name] as const])))],
    [devices],
  );
  const change = (changes: FleetSearch): void =>
    void navigate({ search: (known) => ({ ...known, ...changes }), replace: true });
  return (
    <>
      <SearchInput
        label="Name, serial, reason"
        value={search.q ?? ''}
        onChange={(q) =>
          void navigate({ search: ({ q: _q, ...rest }) => (q === '' ? rest : { ...rest, q }), replace: true })
        }
      />
      <SelectorFilter
        value={search.labels ?? ''}
        problem={problem}
        onChange={(labels) =>
          void navigate({
            search: ({ labels: _labels, ...rest }) => (labels === '' ? rest : { ...rest, labels }),
            replace: true,
          })
        }
      />
      {hosts.length > 1 && (
        <Select
          label="Host"
          value={search.host ?? ''}
          options={[{ value: '', label: 'All hosts' }, ...hosts.map(([value, label]) => ({ value, label }))]}
          onChange={(host) =>
            void navigate({
              search: ({ host: _host, ...rest }) => (host === '' ? rest : { ...rest, host }),
              replace: true,
            })
          }
        />
      )}
      <div className={styles['chips']} role="group" aria-label="State">
        {devices.some(needsAttention) && (
          <button
            type="button"
            className={styles['chip']}
            aria-pressed={search.attention === true}
            onClick={() =>
              search.attention === true
                ? void navigate({ search: ({ attention: _attention, ...rest }) => rest, replace: true })
                : change({ attention: true })
            }
          >
            Needs attention <b>{devices.filter(needsAttention).length}</b>
          </button>
        )}
        {countStates(devices).map(([state, count]) => (
          <button
            key={state}
            type="button"
            className={styles['chip']}
            aria-pressed={search.state === state}
            onClick={() =>
              search.state === state
                ? void navigate({ search: ({ state: _state, ...rest }) => rest, replace: true })
                : change({ state })
            }
          >
            <Mark {...stateLooks[state]} />
            <b>{count}</b>
          </button>
        ))}
      </div>
    </>
  );
}

const idOf = ({ device_id: id }: Device): string => id;

function SelectionBar({ all, selection }: { all: readonly Device[]; selection: Selection }) {
  const [open, setOpen] = useState<'launch' | 'stop'>();
  const missing = useMissingScope('launch');
  const chosen = useMemo(() => all.filter((device) => selection.ids.has(device.device_id)), [all, selection]);
  const close = (): void => setOpen(undefined);
  if (chosen.length === 0)
    return (
      <div className={styles['selectionBar']}>
        <span className={styles['hint']}>
          Select phones to launch on them, to stop them, or to control them together.
        </span>
      </div>
    );
  return (
    <div className={styles['selectionBar']} role="region" aria-label="Selected phones">
      <b>{chosen.length} selected</b>
      <Button look="primary" reason={missing} onClick={() => setOpen('launch')}>
        Launch…
      </Button>
      <Button reason={missing} onClick={() => setOpen('stop')}>
        Stop…
      </Button>
      {chosen.length > 1 && (
        <Link
          to="/devices/together"
          search={{ phones: chosen.map(idOf).join(',') }}
          className={buttonClass()}
        >
          Control together
        </Link>
      )}
      <Button look="quiet" onClick={() => selection.set([])}>
        Clear
      </Button>
      {open === 'launch' && <LaunchDialog devices={chosen} onClose={close} />}
      {open === 'stop' && <StopDialog devices={chosen} onClose={close} />}
    </div>
  );
}

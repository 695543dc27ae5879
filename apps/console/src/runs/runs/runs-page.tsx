import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { DeviceSelect } from '../../fleet/devices/device.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { SearchInput, Select, useSettled } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { SinceSelect } from '../../parts/time.tsx';
import { Empty } from '../../parts/states.tsx';
import { ProjectSelect } from '../../code/projects/project.tsx';
import { runsQuery, runLooks, runsSearch, type RunsSearch } from './run.tsx';
import { RunList } from './run-list.tsx';

const route = getRouteApi('/runs');

export function RunsPage() {
  const search = route.useSearch();
  const shown = runsSearch({ ...search, q: useSettled(search.q ?? '') });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title="Runs"
      aside={<RunCount search={shown} />}
      bar={<Filters search={search} />}
      actions={
        <Link to="/stats" className={buttonClass('quiet')}>
          Statistics
        </Link>
      }
    >
      <RunList search={shown} empty={isFiltered ? <NothingFound /> : <NoRuns />} />
    </Page>
  );
}

/** Number of matches, as far as the service counts them. */
function RunCount({ search }: { search: RunsSearch }) {
  const total = useInfiniteQuery(runsQuery(search)).data?.pages[0]?.total;
  if (total === undefined || total === null) return null;
  return (
    <span aria-label="Runs that match" role="note">
      {total.runs.toLocaleString('en')}
      {total.or_more && '+'}
    </span>
  );
}

const NoRuns = () => (
  <Empty
    title="Nothing has run yet"
    action={
      <Link to="/start" className={buttonClass('primary')}>
        First steps
      </Link>
    }
  >
    A run is one execution of an automation on one phone.
  </Empty>
);

const NothingFound = () => (
  <Empty
    title="No runs match"
    action={
      <Link to="/runs" className={buttonClass()}>
        Show all runs
      </Link>
    }
  />
);

function Filters({ search }: { search: RunsSearch }) {
  const navigate = route.useNavigate();
  /** Changes the filters. An empty value removes a filter. */
  const change = (changes: Record<string, string>): void =>
    void navigate({ search: (known) => runsSearch({ ...known, ...changes }), replace: true });
  return (
    <>
      <SearchInput label="Name or error" value={search.q ?? ''} onChange={(q) => change({ q })} />
      <Select
        label="State"
        value={search.status ?? ''}
        options={[
          { value: '', label: 'Any state' },
          ...Object.entries(runLooks).map(([value, { word }]) => ({ value, label: word })),
        ]}
        onChange={(status) => change({ status })}
      />
      <ProjectSelect value={search.automation} onChange={(automation) => change({ automation })} />
      <DeviceSelect value={search.device} onChange={(device) => change({ device })} />
      <SinceSelect value={search.since} onChange={(since) => change({ since })} />
    </>
  );
}

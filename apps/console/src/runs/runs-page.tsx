import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { deviceName } from '../devices/device-name.ts';
import { devicesQuery } from '../devices/queries.ts';
import { buttonClass } from '../parts/button.tsx';
import { Select } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { projectsQuery } from '../projects/queries.ts';
import { RunList } from './run-list.tsx';
import { runLooks } from './run-status.tsx';
import { runsSearch, type RunsSearch } from './runs-search.ts';

const route = getRouteApi('/runs');

export function RunsPage() {
  const search = route.useSearch();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title="Runs" bar={<Filters search={search} />}>
      <RunList search={search} empty={isFiltered ? <NothingFound /> : <NoRuns />} />
    </Page>
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
    title="No run is like that"
    action={
      <Link to="/runs" className={buttonClass()}>
        Show all runs
      </Link>
    }
  />
);

function Filters({ search }: { search: RunsSearch }) {
  const navigate = route.useNavigate();
  const { data: devices = [] } = useQuery(devicesQuery);
  const { data: projects = [] } = useQuery(projectsQuery);
  /** An empty value takes the filter away. */
  const change = (changes: Record<string, string>): void =>
    void navigate({ search: (known) => runsSearch({ ...known, ...changes }), replace: true });
  return (
    <>
      <Select
        label="State"
        value={search.status ?? ''}
        options={[
          { value: '', label: 'Any state' },
          ...Object.entries(runLooks).map(([value, { word }]) => ({ value, label: word })),
        ]}
        onChange={(status) => change({ status })}
      />
      <Select
        label="Project"
        value={search.automation ?? ''}
        options={[
          { value: '', label: 'Any automation' },
          ...projects.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(automation) => change({ automation })}
      />
      <Select
        label="Phone"
        value={search.device ?? ''}
        options={[
          { value: '', label: 'Any phone' },
          ...devices.map((device) => ({
            value: device.device_id,
            label: `${deviceName(device)} · ${device.serial}`,
          })),
        ]}
        onChange={(device) => change({ device })}
      />
      <Select
        label="Time"
        value={search.since ?? ''}
        options={[
          { value: '', label: 'Any time' },
          { value: '1h', label: 'Last hour' },
          { value: '24h', label: 'Last 24 hours' },
          { value: '7d', label: 'Last 7 days' },
        ]}
        onChange={(since) => change({ since })}
      />
    </>
  );
}

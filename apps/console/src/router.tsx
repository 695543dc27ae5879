import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  Navigate,
  useRouter,
  Link,
} from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';

import { deviceSearch, fleetSearch } from './fleet/devices/fleet-search.ts';
import { jobSearch } from './work/jobs/job-search.ts';
import { runSearch, runsSearch, hasRunQuery } from './runs/runs/run.tsx';
import { groupsSearch, recordsSearch } from './evidence/records/records-search.ts';
import { statsSearch } from './runs/stats/stats-search.ts';
import { Shell } from './shell/shell.tsx';
import { Loading, Empty } from './parts/states.tsx';
import { Page } from './parts/page.tsx';

const NotFound = () => (
  <Page title="Not found">
    <Empty title="Page not found" action={<Link to="/devices">Go to the fleet</Link>}>
      The address may be incomplete, or its target was deleted.
    </Empty>
  </Page>
);

/** Search parameters of a project's replays. Default: the newest replay. */
interface ReplaysSearch {
  replay?: string;
}

const replaysSearch = ({ replay }: Record<string, unknown>): ReplaysSearch =>
  typeof replay === 'string' && replay !== '' ? { replay } : {};

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: HomePage,
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  beforeLoad: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- so the router wants it
    throw redirect({ to: '/', replace: true });
  },
});
const fleet = createRoute({
  getParentRoute: () => root,
  path: '/devices',
  validateSearch: fleetSearch,
  component: lazyRouteComponent(() => import('./fleet/devices/fleet-page.tsx'), 'FleetPage'),
});
const together = createRoute({
  getParentRoute: () => root,
  path: '/devices/together',
  validateSearch: togetherSearch,
  component: lazyRouteComponent(() => import('./control/live/together-page.tsx'), 'TogetherPage'),
});
const device = createRoute({
  getParentRoute: () => root,
  path: '/devices/$deviceId',
  validateSearch: deviceSearch,
  component: lazyRouteComponent(() => import('./fleet/devices/device-page.tsx'), 'DevicePage'),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import('./runs/runs/runs-page.tsx'), 'RunsPage'),
});
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  validateSearch: runSearch,
  component: lazyRouteComponent(() => import('./runs/runs/run-page.tsx'), 'RunPage'),
});
const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  component: lazyRouteComponent(() => import('./work/jobs/jobs-page.tsx'), 'JobsPage'),
});
const schedules = createRoute({
  getParentRoute: () => root,
  path: '/jobs/schedules',
  component: lazyRouteComponent(() => import('./work/schedules/schedules-page.tsx'), 'SchedulesPage'),
});
const pools = createRoute({
  getParentRoute: () => root,
  path: '/jobs/pools',
  component: lazyRouteComponent(() => import('./fleet/devices/pools-page.tsx'), 'PoolsPage'),
});
const job = createRoute({
  getParentRoute: () => root,
  path: '/jobs/$jobId',
  validateSearch: jobSearch,
  component: lazyRouteComponent(() => import('./work/jobs/job-page.tsx'), 'JobPage'),
});
const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  component: lazyRouteComponent(() => import('./code/projects/projects-page.tsx'), 'ProjectsPage'),
});
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  validateSearch: editorSearch,
  component: lazyRouteComponent(() => import('./code/projects/project-page.tsx'), 'ProjectPage'),
});
const replays = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId/replays',
  validateSearch: replaysSearch,
  component: lazyRouteComponent(() => import('./evidence/replays/replays-page.tsx'), 'ReplaysPage'),
});
const versions = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId/versions',
  component: lazyRouteComponent(() => import('./evidence/drift/versions-page.tsx'), 'VersionsPage'),
});
const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: groupsSearch,
  component: lazyRouteComponent(() => import('./evidence/records/groups-page.tsx'), 'GroupsPage'),
});
const records = createRoute({
  getParentRoute: () => root,
  path: '/records',
  validateSearch: recordsSearch,
  component: lazyRouteComponent(() => import('./evidence/records/review-page.tsx'), 'ReviewPage'),
});
const stats = createRoute({
  getParentRoute: () => root,
  path: '/stats',
  validateSearch: statsSearch,
  component: lazyRouteComponent(() => import('./runs/stats/stats-page.tsx'), 'StatsPage'),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./http/access/account-page.tsx'), 'AccountPage'),
});
const tokens = createRoute({
  getParentRoute: () => root,
  path: '/settings/tokens',
  component: lazyRouteComponent(() => import('./http/access/tokens-page.tsx'), 'TokensPage'),
});
const users = createRoute({
  getParentRoute: () => root,
  path: '/settings/users',
  component: lazyRouteComponent(() => import('./http/access/users-page.tsx'), 'UsersPage'),
});
const hosts = createRoute({
  getParentRoute: () => root,
  path: '/settings/hosts',
  component: lazyRouteComponent(() => import('./fleet/hosts/hosts-page.tsx'), 'HostsPage'),
});
const usage = createRoute({
  getParentRoute: () => root,
  path: '/settings/usage',
  component: lazyRouteComponent(() => import('./http/access/usage-page.tsx'), 'UsagePage'),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/settings/audit',
  component: lazyRouteComponent(() => import('./http/audit/audit-page.tsx'), 'AuditPage'),
});
const webhooks = createRoute({
  getParentRoute: () => root,
  path: '/settings/webhooks',
  component: lazyRouteComponent(() => import('./work/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const helpPage = () => import('./operations/help/help-page.tsx');
const help = createRoute({
  getParentRoute: () => root,
  path: '/help',
  component: lazyRouteComponent(helpPage, 'HelpPage'),
});
const helpSplat = createRoute({
  getParentRoute: () => root,
  path: '/help/$',
  component: lazyRouteComponent(helpPage, 'HelpPage'),
});
const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  component: lazyRouteComponent(() => import('./shell/start-page.tsx'), 'StartPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    fleet,
    together,
    device,
    runs,
    run,
    jobs,
    schedules,
    pools,
    job,
    projects,
    project,
    replays,
    versions,
    groups,
    records,
    settings,
    tokens,
    users,
    hosts,
    usage,
    audit,
    stats,
    webhooks,
    help,
    helpSplat,
    start,
  ]),
  defaultPendingComponent: Loading,
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** Search parameters of a project's page. */
interface EditorSearch {
  file?: string;
  line?: number;
  /** Group of records whose screens are replayed. */
  group?: string;
}

function editorSearch(given: Record<string, unknown>): EditorSearch {
  const { file, line, group } = given;
  return {
    ...(typeof file === 'string' && file !== '' ? { file } : {}),
    ...(typeof line === 'number' && line > 0 ? { line } : {}),
    ...(typeof group === 'string' && /^[0-9a-f-]{36}$/.test(group) ? { group } : {}),
  };
}

/** First page after signing in: the first steps, until the first run. */
function HomePage() {
  const { data: hasRun, isError } = useQuery(hasRunQuery);
  const { latestLocation } = useRouter();
  // This page stays on display while the next one is loading.
  const isLeaving = latestLocation.pathname !== '/';
  if (isLeaving || (hasRun === undefined && !isError)) return <Loading />;
  return <Navigate to={hasRun === false ? '/start' : '/devices'} replace />;
}

/** Search parameters of the page that controls several phones together. */
interface TogetherSearch {
  /** Device IDs, separated by commas. */
  phones?: string;
}

function togetherSearch(given: Record<string, unknown>): TogetherSearch {
  const phones = given['phones'];
  return typeof phones === 'string' && phones !== '' ? { phones } : {};
}

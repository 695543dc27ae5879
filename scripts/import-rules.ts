import type { Import, ImportTarget, Place } from './import-places.ts';

interface Rule {
  readonly name: string;
  readonly reason: string;
  readonly instead: string;
}

export interface ImportRule extends Rule {
  isBrokenBy(found: Import): boolean;
}

/** Rooms of apps/server/src and apps/cli/src/commands, lowest first; those of apps/console/src have no order. */
const ROOMS: readonly (string | undefined)[] = [
  'kernel',
  'storage',
  'http',
  'fleet',
  'code',
  'runs',
  'control',
  'evidence',
  'work',
  'operations',
];
/** Base folders of the console, which its rooms may import. */
const CONSOLE_BASE: readonly (string | undefined)[] = ['api', 'parts', 'styles'];
/** Folders of rooms that know no feature. All others are features, except those of the kernel. */
const BASE_FOLDERS: readonly string[] = ['storage/db', 'storage/blobs', 'http/requests'];
const CONFIG = 'apps/server/src/config.ts';
/** File that passes the settings to every feature. */
const CONTEXT = 'apps/server/src/http/context.ts';
const DATABASE_PACKAGES = ['kysely', 'better-sqlite3', 'pg'];

export const IMPORT_RULES: readonly ImportRule[] = [
  {
    name: 'protocol stands alone',
    reason: 'every program and every client reads it, so it may bring none of them along',
    instead: 'move what both need into packages/protocol, or keep it in the app that uses it',
    isBrokenBy: ({ from, to }) => from.workspace === 'packages/protocol' && leavesWorkspace(from, to),
  },
  {
    name: 'automation stands alone',
    reason: "it runs beside users' code in the isolate and is what their editors load",
    instead: 'use `import type` from @phalanx/protocol, or hand the value in through the bridge',
    isBrokenBy: ({ from, to, isTypeOnly }) =>
      from.workspace === 'packages/automation' &&
      leavesWorkspace(from, to) &&
      !(isTypeOnly && workspaceOf(to) === 'packages/protocol'),
  },
  {
    name: 'the simulated phone stands alone',
    reason:
      'it stands in for a phone, which knows nothing of Phalanx; shared code would hide a shared mistake',
    instead: 'write the device side from what Android does',
    isBrokenBy: ({ from, to }) => from.workspace === 'packages/simulated-phone' && leavesWorkspace(from, to),
  },
  {
    name: 'only the CLI imports apps',
    reason: 'apps run on different machines and meet only on the wire',
    instead: 'move what both need into a package; a test of several apps stands in tests/',
    isBrokenBy: ({ from, to }) =>
      workspaceOf(to)?.startsWith('apps/') === true &&
      leavesWorkspace(from, to) &&
      !['apps/cli', 'tests', 'bench', 'scripts'].includes(from.workspace),
  },
  {
    name: 'workspaces by their name',
    reason: 'what a workspace exports is its promise; everything behind that may change',
    instead:
      'import the package name, and export what is missing from its index.ts (or as a subpath in package.json)',
    isBrokenBy: ({ from, to }) =>
      to.kind === 'ours' &&
      to.reachedBy !== 'package' &&
      leavesWorkspace(from, to) &&
      // Covered by another rule.
      to.place.workspace !== 'tests' &&
      !['tests', 'bench'].includes(from.workspace),
  },
  {
    name: 'rooms import lower rooms',
    reason: `a room stands on those below it: ${ROOMS.join(', ')}; one that knew a higher one could not be read without it`,
    instead: 'let app.ts hand it in, or move what both need into the lower room, or beside the commands',
    isBrokenBy: ({ from, to }) =>
      !from.isTest &&
      to.kind === 'ours' &&
      !leavesWorkspace(from, to) &&
      (roomOf(from) ?? Infinity) < (roomOf(to.place) ?? -1),
  },
  {
    name: 'rooms of the console stand between base and frame',
    reason: `${CONSOLE_BASE.join(', ')} serve every page, and the frame (shell, router.tsx) has every page in it`,
    instead: 'hand it in as a property, or move what both need into the base',
    isBrokenBy: ({ from, to }) =>
      !from.isTest &&
      to.kind === 'ours' &&
      !leavesWorkspace(from, to) &&
      (consoleFloorOf(from) ?? Infinity) < (consoleFloorOf(to.place) ?? -1),
  },
  {
    name: 'settings are handed in',
    reason:
      'config.ts has the settings of every room; a room that imported it could not be read without the higher ones',
    instead: 'declare the few settings that it takes, and let the Context hand them in',
    isBrokenBy: ({ from, to }) =>
      !from.isTest &&
      from.path.startsWith('apps/server/src/') &&
      roomOf(from) !== undefined &&
      from.path !== CONTEXT &&
      to.kind === 'ours' &&
      to.place.path === CONFIG,
  },
  {
    name: `${BASE_FOLDERS.join(', ')} know no feature`,
    reason: 'every feature stands on them; one that they knew could not be changed or removed alone',
    instead: 'let app.ts hand it in, or let the feature register itself',
    isBrokenBy: ({ from, to }) =>
      !from.isTest && isBase(from) && to.kind === 'ours' && featureOf(to.place) !== undefined,
  },
  {
    name: "no other feature's routes or store",
    reason:
      "routes are a feature's front and its store the only place with its SQL; both change with its tables",
    instead: "import the other feature's module that is named for the rule you need, or make one",
    isBrokenBy: ({ from, to }) =>
      !from.isTest &&
      to.kind === 'ours' &&
      featureOf(from) !== undefined &&
      featureOf(to.place) !== undefined &&
      featureOf(from) !== featureOf(to.place) &&
      /^(.+-)?(routes|store)\.ts$/.test(to.place.fileName),
  },
  {
    name: 'SQL lives in stores',
    reason: 'a table is changed by reading one file',
    instead: 'move the query into the store.ts (or a *-store.ts) of its feature, or into db/',
    isBrokenBy: ({ from, to }) =>
      to.kind === 'package' &&
      DATABASE_PACKAGES.includes(to.name) &&
      !from.isTest &&
      !['bench', 'packages/sqlite-thread'].includes(from.workspace) &&
      !/^(.+-)?store\.ts$/.test(from.fileName) &&
      !from.folders.includes('db'),
  },
  {
    name: 'nobody imports tests',
    reason: 'a product that needs its tests can not be shipped without them',
    instead: 'move what both need out of the test, beside the code that it belongs to',
    isBrokenBy: ({ from, to }) =>
      to.kind === 'ours' && to.place.isTest && !from.isTest && from.workspace !== 'bench',
  },
  {
    name: 'nobody imports tests/ from elsewhere',
    reason: 'tests/ stands on top of every workspace',
    instead: 'move the test into tests/, or what it needs into the workspace that it is about',
    isBrokenBy: ({ from, to }) => workspaceOf(to) === 'tests' && from.isTest && from.workspace !== 'tests',
  },
];

export const CYCLE_RULE: Rule = {
  name: 'no import cycles',
  reason: 'files in a circle are one file: none can be read or changed without the others',
  instead: 'move what two of them share into a file that both import, or hand it in as a parameter',
};

/** Rule against import cycles of folders in product code, except in the console, whose pages link to each other. */
export const FOLDER_CYCLE_RULE: Rule = {
  name: 'no cycles of folders',
  reason: 'features in a circle are one feature: none can be read or changed without the others',
  instead:
    'move the file that closes the circle into the folder that needs it, or put one folder into the other',
};

function workspaceOf(target: ImportTarget): string | undefined {
  return target.kind === 'ours' ? target.place.workspace : undefined;
}

function leavesWorkspace(from: Place, to: ImportTarget): boolean {
  return to.kind === 'ours' && to.place.workspace !== from.workspace;
}

function isServerSource(place: Place): boolean {
  return place.workspace === 'apps/server' && place.folders[0] === 'src';
}

/** Returns the rank of the file's room; undefined for files outside of rooms, such as app.ts. */
function roomOf(place: Place): number | undefined {
  const room = ROOMS.indexOf(isServerSource(place) ? place.folders[1] : commandFolderOf(place));
  return room === -1 ? undefined : room;
}

function commandFolderOf({ workspace, folders }: Place): string | undefined {
  return workspace === 'apps/cli' && folders[1] === 'commands' ? folders[2] : undefined;
}

/** Returns the floor of a console file: 0 for the base, 1 for the rooms, 2 for the frame. */
function consoleFloorOf({ workspace, folders: [top, folder] }: Place): number | undefined {
  if (workspace !== 'apps/console' || top !== 'src') return undefined;
  if (CONSOLE_BASE.includes(folder)) return 0;
  return ROOMS.includes(folder) ? 1 : 2;
}

function folderOf({ folders }: Place): string {
  return folders.slice(1, 3).join('/');
}

function isBase(place: Place): boolean {
  return isServerSource(place) && BASE_FOLDERS.includes(folderOf(place));
}

/** Returns room and folder of the feature: `fleet/devices`. */
function featureOf(place: Place): string | undefined {
  const isFeature = isServerSource(place) && place.folders.length > 2 && place.folders[1] !== 'kernel';
  return isFeature && !isBase(place) ? folderOf(place) : undefined;
}

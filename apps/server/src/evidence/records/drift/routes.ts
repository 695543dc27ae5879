import {
  type AppVersionFigures,
  type DriftGroup,
  DriftReason,
  driftRoutes,
  isUnknownState,
  type NearestState,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { type AutomationAccess, getReviewable } from '../access-store.ts';
import type { AppVersion } from '../../../storage/db/app-versions.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { addRoute } from '../../../http/requests/route.ts';
import type { ScreenPrint } from '../groups/prints/screen-print.ts';
import { likeness } from '../groups/prints/nearest-group.ts';
import type { DriftedGroup, DriftStore, GroupPrint } from './drift-store.ts';
import type { GoldenTree, KnownScreen } from './golden-prints.ts';

/** Likeness below which two screens count as different. */
const minLikeness = 0.3;
const shownNames = 3;

interface Options {
  store: DriftStore;
  access: AutomationAccess;
  listGolden: (project: { projectId: string; ownerId: string }) => Promise<GoldenTree[]>;
  printsOf: (golden: readonly GoldenTree[]) => Promise<KnownScreen[]>;
}

const driftReason = Compile(DriftReason);

/** `GET /automation/drift/:id` */
export function addDriftRoutes(app: FastifyInstance, options: Options): void {
  const { store, access, listGolden, printsOf } = options;

  const describe = async (project: {
    projectId: string;
    ownerId: string;
  }): Promise<(DriftGroup & Pick<DriftedGroup, 'package_name' | 'first_version'>)[]> => {
    const groups = await store.listNewGroups(project);
    if (groups.length === 0) return [];
    const packages = [...new Set(groups.map(({ package_name: name }) => name))];
    const prints = await store.listPrints(project, packages);
    const golden = await printsOf(await listGolden(project));
    const known = [...golden, ...prints.flatMap(knownScreen)];
    return groups.map((group) => {
      const own = prints.find(({ groupId }) => groupId === group.id);
      const others = known.filter(({ name }) => name !== group.id);
      return { ...group, nearest: (own && findNearestState(own.print, others)) ?? null };
    });
  };

  addRoute(app, driftRoutes.get, async ({ principal, params }) => {
    const { ownerId, automationId: projectId } = await getReviewable(access, principal, params.id);
    if ((await access.findProject(projectId)) === undefined)
      throw ApiError.of('project_not_found', { project_id: params.id });
    const project = { projectId, ownerId };
    const versions = await store.listVersions(projectId);
    const counts = await store.countGroups(project);
    const groups = await describe(project);
    return {
      success: true,
      versions: versions.map((row) => {
        const count = counts.find((one) => isOf(one, row))?.groups ?? 0;
        return view(row, count, groups.filter((one) => isOf(one, row)).map(groupView));
      }),
    };
  });
}

const isOf = (
  one: Pick<DriftedGroup, 'package_name' | 'first_version'>,
  { package: name, version }: AppVersion,
): boolean => one.package_name === name && one.first_version === version;

const groupView = ({
  package_name: _name,
  first_version: _version,
  ...group
}: DriftGroup & Pick<DriftedGroup, 'package_name' | 'first_version'>): DriftGroup => group;

function view(
  { project_id: _project, drift: json, ...row }: AppVersion,
  groups: number,
  newGroups: DriftGroup[],
): AppVersionFigures {
  const drift: unknown = json === null ? null : JSON.parse(json);
  return { ...row, groups, drift: driftReason.Check(drift) ? drift : null, new_groups: newGroups };
}

/** Returns the group as a known screen when the code recognised its state or a user has solved it, else nothing. */
function knownScreen({ groupId, title, state, status, print }: GroupPrint): KnownScreen[] {
  const isKnown = !isUnknownState(state) && state !== '';
  if (!isKnown && status !== 'solved') return [];
  return [{ kind: 'group', name: groupId, state: isKnown ? state : title, print }];
}

/**
 * Finds the most similar known screen and describes the difference. Returns undefined when no screen is similar enough.
 */
function findNearestState(print: ScreenPrint, known: readonly KnownScreen[]): NearestState | undefined {
  const ranked = known
    .filter((one) => one.print.packageName === print.packageName)
    .map((one) => ({ one, score: likeness(print, one.print) }))
    .toSorted((a, b) => b.score - a.score);
  const [best] = ranked;
  if (best === undefined || best.score < minLikeness) return undefined;
  const { kind, name, state } = best.one;
  const difference = differenceOf(best.one.print, print);
  return { kind, name, state, likeness: Math.round(best.score * 100) / 100, difference };
}

/** Describes the difference by IDs, which are the most specific, or else by words. */
function differenceOf(before: ScreenPrint, now: ScreenPrint): string {
  const ids = changes(before.ids, now.ids, (id) => `#${id}`);
  if (ids !== '') return ids;
  const words = changes(new Set(before.words.keys()), new Set(now.words.keys()), (word) => `“${word}”`);
  return words === '' ? 'the same IDs and words in another form' : words;
}

function changes(
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
  nameOf: (one: string) => string,
): string {
  const gone = [...before].filter((one) => !now.has(one)).map(nameOf);
  const added = [...now].filter((one) => !before.has(one)).map(nameOf);
  return [sentence(gone, 'gone'), sentence(added, 'new')].filter((part) => part !== '').join('; ');
}

function sentence(names: readonly string[], what: string): string {
  if (names.length === 0) return '';
  const more = names.length - shownNames;
  const list = [...names.slice(0, shownNames), ...(more > 0 ? [`${more} more`] : [])];
  const last = list.at(-1) ?? '';
  if (list.length === 1) return `${last} is ${what}`;
  return `${list.slice(0, -1).join(', ')} and ${last} are ${what}`;
}

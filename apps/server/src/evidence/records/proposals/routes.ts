import { writeSign, type SignCondition, writeSignTest } from '@phalanx/automation/screen-signs';
import { groupRoutes, isUnknownState, type SignCandidate } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Compiler } from '../../../code/compile/compiler.ts';
import { type AutomationAccess, isReviewerOf } from '../access-store.ts';
import type { GroupStore } from '../groups/store.ts';
import type { SavedScreens } from './saved-screens-store.ts';
import { type SignReader, findSigns, type FoundSigns, type Variety } from './find-signs.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { fileTag } from '../../../code/files/file-version.ts';
import { requireScope } from '../../../http/requests/policy.ts';
import type { Principal } from '../../../http/requests/principal.ts';
import { addRoute } from '../../../http/requests/route.ts';
import type { Turns } from '../../../kernel/limits/turns.ts';
import type { GetLaunchable } from '../../../code/projects/project-files.ts';
import type { StoredGroup } from '../groups/membership-store.ts';
import { crashOf } from '../groups/crash.ts';
import { asSent } from './process/messages.ts';

interface Options {
  store: Pick<GroupStore, 'find' | 'countVersions' | 'countLanguages' | 'mapSamples'>;
  access: AutomationAccess;
  screens: SavedScreens;
  reader: SignReader;
  getLaunchable: GetLaunchable;
  compiler: Pick<Compiler, 'addSigns'>;
  turns: Turns;
}

/** `POST /groups/:id/propose` */
export function addProposalRoutes(app: FastifyInstance, options: Options): void {
  const { store, access, screens, reader, getLaunchable, turns } = options;

  /** Finds a group. A caller who may not review its records gets `group_not_found`, as if there were none. */
  const get = async (principal: Principal, id: string): Promise<StoredGroup> => {
    const group = await store.find(id.toLowerCase());
    if (group === undefined || !(await isReviewerOf(access, principal, group)))
      throw ApiError.of('group_not_found', { group_id: id });
    return group;
  };

  addRoute(app, groupRoutes.propose, async ({ principal, params, body }) => {
    requireScope(principal, 'review');
    const group = await get(principal, params.id);
    const { state = stateNameOf(group.title), kind = 'state' } = body;
    const files =
      group.project_id === null ? undefined : (await getLaunchable(group.project_id, principal)).files;
    const own = await screens.ofGroup(group);
    if (own.length === 0)
      return { success: true, ...nothing, state, kind, problem: await whyNoScreens(store, group.id) };
    const variety = await varietyOf(store, group.id);
    const found = await turns.run(principal.userId, () =>
      findSigns({ variety, reader, screens: own, others: screens.ofOthers(group, { files, state }) }),
    );
    const candidates = await withFixes(options.compiler, { found, files, group, state, kind });
    const problem = candidates.length > 0 ? '' : found.screens === 0 ? noScreens : noSign;
    const { screens: count, others } = found;
    return { success: true, state, kind, screens: count, others, candidates, problem };
  });
}

async function varietyOf(store: Options['store'], groupId: string): Promise<Variety> {
  const languages = await store.countLanguages(groupId);
  const versions = await store.countVersions(groupId);
  return {
    languages: languages.filter(({ language }) => language !== null).length,
    appVersions: versions.filter(({ version }) => version !== null).length,
  };
}

async function whyNoScreens(store: Options['store'], groupId: string): Promise<string> {
  const newest = (await store.mapSamples([groupId])).get(groupId);
  const crash = newest && crashOf(newest.record);
  if (crash === undefined) return noScreens;
  const { name, message, place } = crash.error;
  return `The group is an error in the code, not an unknown screen, so no sign is proposed. Check the code${place === null ? '' : ` at ${place}`}: ${name}: ${message}`;
}

const nothing = { screens: 0, others: 0, candidates: [] };
const noScreens = 'No readable screen of this group is stored.';
const noSign =
  'No combination of up to three conditions holds on all screens of this group and on no other saved screen. Split the group if it has two screens, or recognise it by what came before.';

interface Fixing {
  found: FoundSigns;
  files: Awaited<ReturnType<GetLaunchable>>['files'] | undefined;
  group: StoredGroup;
  state: string;
  kind: 'state' | 'dialog';
}

async function withFixes(
  compiler: Options['compiler'],
  { found, files, group, state, kind }: Fixing,
): Promise<SignCandidate[]> {
  const { signs, button, screens } = found;
  const added = {
    name: state,
    as: kind,
    signs: signs.map(({ conditions }) => conditions.map(asSent)),
    button: button && asSent(button),
    stage: group.next_stage,
    claimedBy: isUnknownState(group.screen_state) ? '' : group.screen_state,
  };
  const fixes = files === undefined || signs.length === 0 ? [] : await compiler.addSigns(files, added);
  const versions = (await files?.list()) ?? new Map<string, string>();
  return signs.map(({ conditions, fragile }, index) => {
    const fix = fixes[index] ?? { files: [], problem: 'Direct code has no files.' };
    return {
      sign: writeSign(conditions),
      holds: screens,
      elsewhere: 0,
      fragile,
      files: fix.files.map((file) => ({ ...file, etag: fileTag(versions.get(file.path) ?? '') })),
      problem: fix.problem,
      snippet: writeSnippet({ state, kind, conditions, button }),
    };
  });
}

const maxWords = 5;

/**
 * Derives a state name from a title: `Enjoying this app?` → `EnjoyingThisApp`. A title in another script gives
 * `NewScreen`.
 */
function stateNameOf(title: string): string {
  const words =
    title
      .normalize('NFKD')
      .replaceAll(/['’\p{M}]/gu, '')
      .match(/[A-Za-z\d]+/g) ?? [];
  const name = words
    .slice(0, maxWords)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase()}`)
    .join('');
  return /^[A-Za-z]{2}/.test(name) ? name.slice(0, 60) : 'NewScreen';
}

interface Snippet {
  state: string;
  kind: 'state' | 'dialog';
  conditions: readonly SignCondition[];
  button: SignCondition | null;
}

/** Writes a snippet for code in which no place for the fix was found. */
function writeSnippet({ state, kind, conditions, button }: Snippet): string {
  const sign = writeSign(conditions);
  if (kind === 'state')
    return `// In states:\n${state}: ${sign},\n// In a function that recognises screens:\nif (${writeSignTest(conditions, 'screen')}) return '${state}';\n`;
  const press =
    button === null
      ? '() => agent.actions.back()'
      : `(screen) => ${writeSignTest([button], 'screen')}?.tap()`;
  return `// In dialogs:\n{ name: '${state}', when: ${sign}, do: ${press} },\n`;
}

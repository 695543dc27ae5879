import { setTimeout as pause } from 'node:timers/promises';
import {
  compactScreen,
  describeVerdict,
  groupRoutes,
  groupStatuses,
  recordRoutes,
  type RecordGroup,
  type Replay,
  type ReplayedScreenView,
  replayRoutes,
  replaySets,
  type ScreenTree,
  fixKinds,
  type SignCandidate,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { findExcess } from '../../../http/requests/bodies/json-bounds.ts';
import { type ApiCalls, ToolFailure, fenced, changing, defineTool, reading, type Tool } from '../tool.ts';
import { exampleId, filePath, maxFiles, NewFile, project } from './projects.ts';

const group = Type.String({ maxLength: 100, description: 'Group ID', examples: [exampleId] });

/** Maximum size of a shown tree, in bytes: larger ones take too long to parse. */
const maxTreeBytes = 256 * 1024;
const maxShown = 50;
const lookEveryMs = 500;

export const fixTools: readonly Tool[] = [
  defineTool({
    name: 'propose',
    title: 'Propose a fix',
    description:
      'Signs of the screens of a group, each with the diff of the code that adds it. Nothing is saved.',
    scopes: ['edit', 'review'],
    hints: reading,
    input: Type.Object({
      group,
      state: Type.Optional(
        Type.String({
          maxLength: 60,
          description: 'Its name in the code, such as RateDialog',
          examples: ['RateDialog'],
        }),
      ),
      kind: Type.Optional(Type.Enum(fixKinds, { description: 'dialog: a screen to dismiss' })),
    }),
    run: async (api, { group: id, ...body }) => {
      const { state, candidates, problem, screens, others } = await api.call(groupRoutes.propose, {
        params: { id },
        body,
      });
      const head = `state ${state}; ${screens} screens of the group, ${others} others looked at`;
      const texts = candidates.map((one, index) => `${index + 1}. ${candidateText(one)}`);
      return [head, texts.length === 0 ? problem : fenced('proposals', texts.join('\n\n'))];
    },
  }),
  defineTool({
    name: 'solve_group',
    title: 'Solve a group',
    description:
      'Marks a group and its records as solved. With commit, only runs of that code open it again.',
    scopes: ['review'],
    hints: changing,
    input: Type.Object({
      group,
      commit: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{7,40}$', examples: ['a1b2c3d'] })),
    }),
    run: async (api, { group: id, commit }) => {
      const solved_in = commit === undefined ? {} : { solved_in: commit };
      const { group: solved } = await api.call(groupRoutes.change, {
        params: { id },
        body: { status: 'solved', ...solved_in },
      });
      return [`group ${solved.id} is solved${solved.solved_in === null ? '' : ` in ${solved.solved_in}`}`];
    },
  }),
];

const groupHead = ({ id, status, title, records, phones, ...of }: RecordGroup): string =>
  `group ${id} ${status}: ${records} records of ${phones} phones, ${JSON.stringify(title)},${errorText(of)} app ${of.package_name}, stage ${JSON.stringify(of.next_stage)}, state ${JSON.stringify(of.screen_state)}, project ${of.automation_id}`;

const errorText = ({ error }: Pick<RecordGroup, 'error'>): string =>
  error === null
    ? ''
    : ` ${JSON.stringify(`${error.name} at ${error.place ?? 'an unknown place'}: ${error.message}`)},`;

/** Returns the numbered lines of a record's tree. */
async function screenLines(api: ApiCalls, treeUrl: string): Promise<string> {
  const { pathname, searchParams } = new URL(treeUrl);
  const [, record_id = '', screen_id = '', kind = ''] = /([^/]+)\/([^/]+)\/([^/]+)$/.exec(pathname) ?? [];
  const params = { record_id, screen_id, kind };
  const { body } = await api.read(recordRoutes.readCapture, {
    params,
    query: Object.fromEntries(searchParams),
  });
  const excess = body.length > maxTreeBytes ? `has ${body.length} bytes` : findExcess(body);
  if (excess !== undefined) return `The tree is not shown: it ${excess}.`;
  // The tree was validated by its host, and again when it was stored.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const tree = JSON.parse(body.toString()) as ScreenTree;
  const { right: width, bottom: height } = tree.root.boundsInScreen;
  return compactScreen({ width, height, tree }).join('\n');
}

async function untilEnded(api: ApiCalls, id: string, seconds: number): Promise<Replay> {
  const until = performance.now() + 1000 * seconds;
  for (;;) {
    const { replay } = await api.call(replayRoutes.get, { params: { id } });
    if (replay.ended_at !== null || performance.now() >= until) return replay;
    await pause(lookEveryMs);
  }
}

const verdictLine = ({ kind, name, group_id, outcome, change, expected, verdict }: ReplayedScreenView) =>
  [
    kind === 'golden' ? name : `group ${group_id}`,
    `${outcome}${change === 'unchanged' ? '' : `, newly ${change}`}`,
    `${expected === null ? '' : `expected ${expected}: `}${describeVerdict(verdict)}`,
  ].join(' | ');

/** Describes all screens of one group, and the changed screens of the others. */
async function replayText(
  api: ApiCalls,
  { id, status, problem, counts }: Replay,
  group_id: string | undefined,
): Promise<string[]> {
  const list = async (query: Record<string, string>): Promise<ReplayedScreenView[]> =>
    (await api.call(replayRoutes.listVerdicts, { params: { id }, query: { ...query, limit: maxShown } }))
      .verdicts;
  const own = group_id === undefined ? [] : await list({ group_id });
  const changed = await list({ changed: 'true' });
  const others = changed.filter((one) => !own.some(({ position }) => position === one.position));
  const count = (...outcomes: ReplayedScreenView['outcome'][]): number =>
    own.filter(({ outcome }) => outcomes.includes(outcome)).length;
  return [
    `replay ${id} ${status}${problem === '' ? '' : `: ${problem}`}`,
    ...(group_id === undefined
      ? []
      : [
          `this group: recognised ${count('handled', 'recognised')}/${own.length}, handled ${count('handled')}/${own.length}`,
        ]),
    `all: ${counts.known}/${counts.screens} known, ${counts.recognised} newly recognised, ${counts.broken} newly broken, ${counts.not_told} not replayable, golden ${counts.golden_expected}/${counts.golden}`,
    ...(own.length === 0 ? [] : [fenced('screens of this group', own.map(verdictLine).join('\n'))]),
    ...(others.length === 0 ? [] : [fenced('other changes', others.map(verdictLine).join('\n'))]),
  ];
}

export const groupTools: readonly Tool[] = [
  defineTool({
    name: 'list_groups',
    title: 'List groups',
    description: 'A line for each group: records that show the same unknown screen.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      project: Type.Optional(project),
      status: Type.Optional(Type.Enum(groupStatuses, { description: 'Default open' })),
    }),
    run: async (api, { project: automation_id, status = 'open' }) => {
      const { groups, next_cursor } = await api.call(groupRoutes.list, {
        query: { automation_id, status, limit: maxShown },
      });
      if (groups.length === 0) return ['There is no such group.'];
      const more = next_cursor === null ? [] : [`Only the first ${maxShown} are listed.`];
      return [fenced('groups', groups.map(groupHead).join('\n')), ...more];
    },
  }),
  defineTool({
    name: 'get_group',
    title: 'Read a group',
    description: 'Its records, its newest screen, and what the last replay made of it.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({ group }),
    run: async (api, { group: id }) => {
      const { group: found, screens, newest_verdict } = await api.call(groupRoutes.get, { params: { id } });
      const records = screens.map(
        ({ record_id, type, device_info }) => `record ${record_id} ${type} on ${JSON.stringify(device_info)}`,
      );
      const treeUrl = screens.find(({ screen }) => screen.uiUrl !== null)?.screen.uiUrl ?? null;
      const verdict = newest_verdict && JSON.stringify(newest_verdict);
      return [
        fenced('group', [groupHead(found), ...records].join('\n')),
        ...(treeUrl === null ? [] : [fenced('screen of the group', await screenLines(api, treeUrl))]),
        verdict === null ? 'No replay has shown it to the code.' : `last replay ${verdict}`,
      ];
    },
  }),
  defineTool({
    name: 'replay_draft',
    title: 'Replay a draft',
    description: 'Replays saved screens against changed files, without saving them.',
    scopes: ['read', 'edit', 'review'],
    hints: changing,
    input: Type.Object({
      project,
      files: Type.Array(NewFile, { maxItems: maxFiles }),
      deleted: Type.Optional(Type.Array(filePath, { maxItems: maxFiles })),
      group: Type.Optional(group),
      set: Type.Optional(Type.Enum(replaySets, { description: 'Default all' })),
      wait_s: Type.Optional(Type.Integer({ minimum: 0, maximum: 55, description: 'Up to 55 s, default 50' })),
    }),
    run: async (api, { project: id, files, deleted = [], group: wanted, set = 'all', wait_s = 50 }) => {
      const found =
        wanted === undefined
          ? undefined
          : (await api.call(groupRoutes.get, { params: { id: wanted } })).group;
      if (found !== undefined && found.automation_id !== id.toLowerCase())
        throw new ToolFailure('The group is of another project.');
      const body = { files, deleted, set };
      const { replay } = await api.call(replayRoutes.start, { params: { id }, body });
      return replayText(api, await untilEnded(api, replay.id, wait_s), found?.id);
    },
  }),
];

const candidateText = ({ sign, holds, elsewhere, fragile, files, problem, snippet }: SignCandidate): string =>
  [
    `sign ${sign}`,
    `holds on ${holds} screens of the group, on ${elsewhere} others; fragile: ${fragile.join(', ') || 'no'}`,
    ...(files.length > 0 ? files.map(({ diff }) => diff) : [`no file changes: ${problem}`, snippet]),
  ].join('\n');

import { fixKinds, groupRoutes, type SignCandidate } from '@phalanx/protocol';
import { Type } from 'typebox';

import { fenced } from '../phone-data.ts';
import { changing, defineTool, reading, type Tool } from '../tool.ts';
import { group } from './groups.ts';

const candidateText = ({ sign, holds, elsewhere, fragile, files, problem, snippet }: SignCandidate): string =>
  [
    `sign ${sign}`,
    `holds on ${holds} screens of the group, on ${elsewhere} others; fragile: ${fragile.join(', ') || 'no'}`,
    ...(files.length > 0 ? files.map(({ diff }) => diff) : [`no file changes: ${problem}`, snippet]),
  ].join('\n');

export const fixTools: readonly Tool[] = [
  defineTool({
    name: 'propose',
    title: 'Propose a fix for a group',
    description:
      'Signs that recognise the unknown screens of a group of records, and for each the diff of the code that adds it. Nothing is saved: try the change (replay_draft), write it (write_project), then commit.',
    scopes: ['edit', 'review'],
    hints: reading,
    input: Type.Object({
      group,
      state: Type.Optional(
        Type.String({
          maxLength: 60,
          description: 'What the code is to call the screen, such as RateDialog',
        }),
      ),
      kind: Type.Optional(
        Type.Enum(fixKinds, { description: 'dialog: an entry of dialogs, which presses a button' }),
      ),
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
      'Marks a group and its pending records as solved. Name the commit that solves it: then only runs of that code open it again, and its replay proves it.',
    scopes: ['review'],
    hints: changing,
    input: Type.Object({
      group,
      commit: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{7,40}$' })),
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

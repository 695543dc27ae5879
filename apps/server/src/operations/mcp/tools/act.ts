import { ActSelector, ActStep, type ActOutcome, deviceControlRoutes, maxActSteps } from '@phalanx/protocol';
import { IsObject, IsOptional, Type } from 'typebox';

import { acting, defineTool, fenced, screenText, ToolFailure } from '../tool.ts';
import { exampleOf } from '../arguments/describe-schema.ts';
import { device, deviceIdOf, lease, screenId } from './phone-arguments.ts';
import { project } from './projects.ts';

const conditions = Object.keys(ActSelector.properties).filter((name) => name !== 'nth');
const anchors = Object.entries(ActSelector.properties).flatMap(([name, field]) =>
  IsObject(field) ? [name] : [],
);
const plainConditions = conditions.filter((name) => !anchors.includes(name));

/** Signatures of the step types, for example `long_press(on duration_ms?)`. */
const stepForms = ActStep.anyOf.map(({ properties: { type, ...fields } }) => {
  const names = Object.entries(fields)
    .map(([name, field]) => (IsOptional(field) ? `${name}?` : name))
    .join(' ');
  return names === '' ? type.const : `${type.const}(${names})`;
});

const steps = Type.Array(ActStep, {
  minItems: 1,
  maxItems: maxActSteps,
  description: `${stepForms.join(' ')}. on, within: number of a line, text, or selector as {isSwitch:true,rightOf:{hasText:'Wi-Fi'}} of ${plainConditions.join(' ')}, these in ${anchors.join(' ')}; nth: -1 the last. down moves content up. secret: name`,
});

/** Drops an empty text beside a secret, as sent by clients that fill in every field. */
function withoutEmptyText(step: ActStep): ActStep {
  if (step.type !== 'type' || step.secret === undefined || step.text !== '') return step;
  const { text: _, ...others } = step;
  return others;
}

const isOfLine = (step: ActStep): boolean =>
  ('on' in step && typeof step.on === 'number') || ('within' in step && typeof step.within === 'number');

/** Whether a missed text target looks like another kind of target, such as a line number or a selector. */
function isMistaken(step: ActStep | undefined, { refusal }: ActOutcome['steps'][number]): boolean {
  if (step === undefined || !('on' in step) || typeof step.on !== 'string') return false;
  const isMissed = refusal === 'gone' || refusal === 'timeout';
  return isMissed && /^(?:\d{1,4}$|\{)/.test(step.on.trim());
}
const mistaken =
  'on was sent as a text, which is searched for literally: send the number of a line as 3, and a selector as an object.';

export const actTool = defineTool({
  name: 'act',
  title: 'Act on a phone',
  description: 'Does up to ten steps; answers with what has changed and a new screen ID.',
  scopes: ['launch'],
  hints: acting,
  input: Type.Object({
    device,
    screen: Type.Optional(screenId),
    steps,
    lease: Type.Optional(lease),
    project: Type.Optional(Type.String({ ...project, description: 'Whose secrets are typed' })),
  }),
  run: async (
    api,
    { device: given, screen: screen_id, steps: ordered, lease: lease_id, project: project_id },
  ) => {
    if (screen_id === undefined && ordered.some(isOfLine))
      throw new ToolFailure(
        `screen is missing: a step names a line by its number, and screen is the ID of the screen that it is on, such as ${JSON.stringify(exampleOf(screenId))}.`,
      );
    const params = { id: await deviceIdOf(api, given) };
    const body = { steps: ordered.map(withoutEmptyText), screen_id, lease_id, project_id };
    const acted = await api.call(deviceControlRoutes.act, { params, body });
    const lines = acted.steps.map((outcome, index) => {
      const { type, state, refusal, message = '', candidates = [] } = outcome;
      return [
        `${index + 1} ${type}: ${state}`,
        ...(refusal === undefined ? [] : [`(${refusal})`, JSON.stringify(message)]),
        ...candidates.map((line) => `\n  may be ${line}`),
      ].join(' ');
    });
    const notes = [
      ...(acted.steps.some((outcome, index) => isMistaken(ordered[index], outcome)) ? [mistaken] : []),
      ...(acted.settled ? [] : ['The screen still moves.']),
    ];
    return [fenced('what became of the steps', lines.join('\n')), ...notes, screenText(acted.screen)];
  },
});

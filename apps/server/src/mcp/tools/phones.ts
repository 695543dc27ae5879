import {
  ActStep,
  deviceControlRoutes,
  deviceRoutes,
  isCompactView,
  maxActSteps,
  ScreenId,
  Selector,
  type Device,
  type NodeInspection,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import {
  type ApiCalls,
  ToolFailure,
  fenced,
  screenText,
  acting,
  changing,
  defineTool,
  reading,
  type Tool,
} from '../tool.ts';

export const device = Type.String({ maxLength: 100, description: 'Device ID or serial number' });
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Of a device ID or a serial number. */
export async function deviceIdOf(api: ApiCalls, given: string): Promise<string> {
  if (uuid.test(given)) return given;
  const { devices } = await api.call(deviceRoutes.list, { query: { search: given } });
  // Whoever shares a phone chooses its serial number.
  const [found, ...others] = devices.filter(({ serial, accepted }) => serial === given && accepted);
  if (found !== undefined && others.length === 0) return found.device_id;
  throw new ToolFailure(
    found === undefined
      ? `There is no phone ${given} that is yours or accepted: list_devices names them, others by their IDs.`
      : `Several phones have the serial number ${given}: give the device ID.`,
  );
}

const deviceLine = ({ device_id, serial, name, brand, model, state, reason, ...more }: Device): string =>
  [
    `${serial} ${device_id}`,
    JSON.stringify(name === '' ? `${brand} ${model}` : name),
    `Android ${more.android_version}`,
    state === 'ready' ? 'ready' : `${state}: ${JSON.stringify(reason)}`,
    ...(more.running.length > 0 ? [`runs ${more.running.length}`] : []),
    ...(more.accepted ? [] : ['shared, not accepted: by its ID only']),
    ...(more.lease === null ? [] : [`held by ${JSON.stringify(more.lease.user.name)}`]),
    ...Object.entries(more.labels).map(([key, value]) => `${key}=${value}`),
  ].join(', ');

/** The attributes that it has, then a line for each selector. */
function nodeLines({ selectors, bounds, is, ...node }: NodeInspection): string[] {
  const { left, top, right, bottom } = bounds;
  const attributes = Object.entries(node).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name} ${JSON.stringify(value)}`],
  );
  return [
    ...attributes,
    `bounds ${left},${top} ${right},${bottom}`,
    ...(is.length === 0 ? [] : [`is ${is.join(', ')}`]),
    ...selectors.map(({ wait, count, finds, depends_on: dependsOn }) =>
      [
        `selector ${wait}: fits ${count}, gives ${finds === 'alone' ? 'this one alone' : finds === 'another' ? 'another one' : `this one as the ${finds}`}`,
        ...(dependsOn === null ? [] : [`depends on its ${dependsOn}`]),
      ].join(', '),
    ),
  ];
}

/** What a phone shows now. */
export async function readScreen(api: ApiCalls, id: string, since?: string): Promise<string> {
  const query = since === undefined ? { view: 'compact' } : { view: 'diff', since };
  const { screen } = await api.call(deviceRoutes.screen, { params: { id }, query });
  return isCompactView(screen) ? screenText(screen) : '';
}

const widths = { small: 360, large: 1080 } as const;

const lease = Type.Optional(
  Type.String({ maxLength: 100, description: 'From take_device: refused once somebody else has the phone' }),
);

export const phoneTools: readonly Tool[] = [
  defineTool({
    name: 'list_devices',
    title: 'List phones',
    description: 'A line for each phone you may see: serial number, ID, model, state, who holds it, labels.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      selector: Type.Optional(Selector),
      state: Type.Optional(Type.Enum(['ready', 'offline', 'unauthorized', 'preparing'] as const)),
      search: Type.Optional(Type.String({ maxLength: 100 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Default 50' })),
    }),
    run: async (api, { limit = 50, ...query }) => {
      const { devices, next_cursor } = await api.call(deviceRoutes.list, { query: { ...query, limit } });
      const more = next_cursor === null ? [] : ['There are more: search or use a selector.'];
      const lines = devices.map(deviceLine).join('\n');
      return [devices.length === 0 ? 'No phone fits.' : fenced('phones', lines), ...more];
    },
  }),
  defineTool({
    name: 'read_screen',
    title: 'Read a screen',
    description:
      'What a phone shows, as numbered lines; the numbers are for act. since: only what has changed after that screen. picture: only when the lines do not tell enough.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      device,
      since: Type.Optional(ScreenId),
      picture: Type.Optional(Type.Enum(['none', 'small', 'large'] as const)),
    }),
    run: async (api, { device: given, since, picture = 'none' }) => {
      const id = await deviceIdOf(api, given);
      const text = await readScreen(api, id, since);
      if (picture === 'none') return [text];
      const { screen } = await api.call(deviceRoutes.screen, {
        params: { id },
        query: { width: widths[picture] },
      });
      if (isCompactView(screen) || screen.picture === null)
        return [text, 'There is no picture: the app in front forbids them, or the screen is off or moves.'];
      return [text, { jpeg: Buffer.from(screen.picture.base64, 'base64') }];
    },
  }),
  defineTool({
    name: 'inspect_node',
    title: 'Inspect a line of a screen',
    description:
      'All attributes of a numbered line, and the selectors that find it in code, the most lasting first, each tried on the screen. Use them in automations in place of guesses.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      device,
      screen: ScreenId,
      on: Type.Integer({ minimum: 1, maximum: 9999, description: 'Number of the line' }),
    }),
    run: async (api, { device: given, screen, on }) => {
      const params = { id: await deviceIdOf(api, given), screen_id: screen, number: String(on) };
      const { node } = await api.call(deviceRoutes.node, { params });
      return [fenced('a node of the screen', nodeLines(node).join('\n'))];
    },
  }),
  defineTool({
    name: 'take_device',
    title: 'Take a phone',
    description:
      'Holds a phone for your hand alone: nobody else touches it or launches on it, not even another program of the same user. Gives a lease for act. Give it back when you are done.',
    scopes: ['launch'],
    hints: changing,
    input: Type.Object({
      device,
      minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 60, description: 'From now and from each act; default 5' }),
      ),
    }),
    run: async (api, { device: given, minutes = 5 }) => {
      const params = { id: await deviceIdOf(api, given) };
      const body = { duration_ms: minutes * 60_000, exclusive: true };
      const { lease: taken } = await api.call(deviceControlRoutes.lease, { params, body });
      return [`lease ${taken.lease_id} until ${new Date(taken.expires_at).toISOString()}`];
    },
  }),
  defineTool({
    name: 'give_back_device',
    title: 'Give a phone back',
    description:
      'Ends a lease of take_device. code: gives what your acts did during it as code of an automation, to begin a project with.',
    scopes: ['launch'],
    hints: changing,
    input: Type.Object({
      device,
      lease: Type.String({ maxLength: 100 }),
      code: Type.Optional(Type.Boolean()),
    }),
    run: async (api, { device: given, lease: leaseId, code: isCodeWanted = false }) => {
      const params = { id: await deviceIdOf(api, given) };
      const { code } = isCodeWanted
        ? await api.call(deviceControlRoutes.leaseCode, { params, query: { lease_id: leaseId } })
        : { code: [] };
      const { message } = await api.call(deviceControlRoutes.endLease, {
        params,
        query: { lease_id: leaseId },
      });
      return [message, ...(isCodeWanted ? [fenced('what the acts did, as code', code.join('\n'))] : [])];
    },
  }),
  defineTool({
    name: 'act',
    title: 'Act on a phone',
    description:
      'Does up to ten steps and answers with what has changed. on: the number of a line of the screen, a text, or a selector. A node that is gone or has equals is refused, never guessed. Type secrets by name: {"type":"type","secret":"password","on":3} with project.',
    scopes: ['launch'],
    hints: acting,
    input: Type.Object({
      device,
      screen: Type.Optional(ScreenId),
      steps: Type.Array(ActStep, { minItems: 1, maxItems: maxActSteps }),
      lease,
      project: Type.Optional(Type.String({ maxLength: 100, description: 'Whose secrets are typed' })),
    }),
    run: async (api, { device: given, screen, steps, lease: leaseId, project }) => {
      const params = { id: await deviceIdOf(api, given) };
      const body = {
        steps,
        ...(screen === undefined ? {} : { screen_id: screen }),
        ...(leaseId === undefined ? {} : { lease_id: leaseId }),
        ...(project === undefined ? {} : { project_id: project }),
      };
      const acted = await api.call(deviceControlRoutes.act, { params, body });
      const lines = acted.steps.map(({ type, state, refusal, message = '', candidates = [] }, index) =>
        [
          `${index + 1} ${type}: ${state}`,
          ...(refusal === undefined ? [] : [`(${refusal})`, JSON.stringify(message)]),
          ...candidates.map((line) => `\n  may be ${line}`),
        ].join(' '),
      );
      const moving = acted.settled ? [] : ['The screen still moves.'];
      return [fenced('what became of the steps', lines.join('\n')), ...moving, screenText(acted.screen)];
    },
  }),
];

import {
  deviceControlRoutes,
  deviceRoutes,
  isCompactView,
  type Device,
  type NodeInspection,
} from '@phalanx/protocol';
import { Type } from 'typebox';

import { minuteMs } from '@phalanx/timing/durations';
import { type ApiCalls, fenced, screenText, changing, defineTool, reading, type Tool } from '../tool.ts';
import { actTool } from './act.ts';
import { device, deviceIdOf, lease, phoneSelector, screenId } from './phone-arguments.ts';

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

/** Returns the non-empty attributes of a node, then a line per selector. */
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

/** Reads the screen that a phone shows now. */
export async function readScreen(api: ApiCalls, id: string, since?: string): Promise<string> {
  const query = since === undefined ? { view: 'compact' } : { view: 'diff', since };
  const { screen } = await api.call(deviceRoutes.screen, { params: { id }, query });
  return isCompactView(screen) ? screenText(screen) : '';
}

const widths = { small: 360, large: 1080 } as const;

export const phoneTools: readonly Tool[] = [
  defineTool({
    name: 'list_devices',
    title: 'List phones',
    description: 'A line for each phone: serial number, ID, model, state, holder, labels.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      selector: Type.Optional(phoneSelector),
      state: Type.Optional(Type.Enum(['ready', 'offline', 'unauthorized', 'preparing'] as const)),
      search: Type.Optional(Type.String({ maxLength: 100 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: 'Up to 200, default 50' })),
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
      'The screen as numbered lines for act. since: only the changes. picture: use it when the lines say too little.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      device,
      since: Type.Optional(screenId),
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
      if (isCompactView(screen)) return [text];
      const { picture: taken, picture_reason: reason, picture_remark: remark } = screen;
      if (taken === null)
        return [text, fenced('why there is no picture', reason ?? 'Its host does not say.')];
      const remarks = typeof remark === 'string' ? [fenced('about the picture', remark)] : [];
      return [text, ...remarks, { jpeg: Buffer.from(taken.base64, 'base64') }];
    },
  }),
  defineTool({
    name: 'inspect_node',
    title: 'Inspect a line',
    description:
      'Attributes of a numbered line, and selectors for code that were tried on the screen, the most lasting first.',
    scopes: ['read'],
    hints: reading,
    input: Type.Object({
      device,
      screen: screenId,
      on: Type.Integer({ minimum: 1, maximum: 9999, description: 'Number of the line', examples: [3] }),
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
    description: 'Holds a phone for you alone, and gives a lease for act.',
    scopes: ['launch'],
    hints: changing,
    input: Type.Object({
      device,
      minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 60, description: 'Up to 60, default 5' })),
    }),
    run: async (api, { device: given, minutes = 5 }) => {
      const params = { id: await deviceIdOf(api, given) };
      const body = { duration_ms: minutes * minuteMs, exclusive: true };
      const { lease: taken } = await api.call(deviceControlRoutes.lease, { params, body });
      return [`lease ${taken.lease_id} until ${new Date(taken.expires_at).toISOString()}`];
    },
  }),
  defineTool({
    name: 'give_back_device',
    title: 'Give a phone back',
    description: 'Ends a lease. code: gives its acts as code of an automation.',
    scopes: ['launch'],
    hints: changing,
    input: Type.Object({
      device,
      lease,
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
  actTool,
];

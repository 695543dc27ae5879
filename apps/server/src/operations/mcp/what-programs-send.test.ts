import type { HostActStep } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { SharedPhone } from '../../fleet/devices/testing/shared-phone.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

/** Sends an MCP message unchanged, as a client would. */
async function post(message: object, version = '2025-06-18'): Promise<string> {
  const { text } = await phone.api('owner')('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': version },
    body: { jsonrpc: '2.0', id: 1, ...message },
  });
  return text;
}

interface Called {
  readonly isError: boolean;
  readonly text: string;
}

async function callRaw(params: object): Promise<Called> {
  const answer = await post({ method: 'tools/call', params });
  const [, json = ''] = /^data: (.*)$/m.exec(answer) ?? [];
  const { error, result } = JSON.parse(json === '' ? answer : json) as {
    error?: { message: string };
    result?: { isError?: boolean; content: { text: string }[] };
  };
  const text = error?.message ?? result?.content.map((part) => part.text).join('\n') ?? '';
  return { isError: error !== undefined || result?.isError === true, text };
}

const call = (name: string, args: unknown): Promise<Called> => callRaw({ name, arguments: args });

/** Answers the host's next `act` request, and returns its steps. All steps succeed, or the first is refused. */
async function answerActs(refusal?: 'gone'): Promise<readonly HostActStep[]> {
  const { request_id, steps } = await phone.host.waitFor('act');
  const results =
    refusal === undefined ? steps.map(() => ({ state: 'done' })) : [{ state: 'failed', refusal }];
  const screen = JSON.stringify({
    captured_at: 1,
    rotation: 0,
    width: 100,
    height: 200,
    picture: null,
    tree: { packageName: 'com.shop', source: '', root: { children: [] } },
  });
  const answer = JSON.stringify({ results, captures: 1, settled: true, code: [] });
  phone.host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'act', request_id })}\n${answer}\n${screen}`));
  return steps;
}

/** Calls `act`, and returns the steps that the phone's host receives. */
async function act(args: object): Promise<readonly HostActStep[]> {
  const answered = answerActs();
  // If the host receives no request, the failed call shows the reason.
  answered.catch(() => undefined);
  expect(await call('act', { device: phone.deviceId, ...args })).toMatchObject({ isError: false });
  return answered;
}

it('steps that come as JSON text, as a whole or in parts, are done as if they were none', async () => {
  const back = { type: 'back' };
  const scroll = { type: 'scroll_to', on: { hasText: 'End' }, within: { isScrollable: true } };
  for (const steps of [
    [back],
    '[{"type":"back"}]',
    ' [ {"type":"back"} ] ',
    ['{"type":"back"}'],
    JSON.stringify(JSON.stringify([back])),
  ])
    expect(await act({ steps })).toEqual([back]);
  expect(await act({ steps: [JSON.stringify(scroll)] })).toEqual([scroll]);
  expect(await act({ steps: [{ ...scroll, within: { isScrollable: 'true' } }] })).toEqual([scroll]);
  expect(await act({ steps: [{ type: 'key', key: '4' }] })).toEqual([{ type: 'key', key: 4 }]);
  expect(await act({ steps: [{ type: 'long_press', on: 'OK', duration_ms: '700' }] })).toEqual([
    { type: 'long_press', on: 'OK', duration_ms: 700 },
  ]);
});

it('a text stays a text where one may stand', async () => {
  for (const on of ['3', '{"hasText":"Settings"}', 'true', 'null'])
    expect(await act({ steps: [{ type: 'tap', on }] })).toEqual([{ type: 'tap', on }]);
  const text = '[1, 2]';
  expect(await act({ steps: [{ type: 'type', text }] })).toEqual([{ type: 'type', text }]);
});

it('null and the empty text stand for what is left out, where something may be', async () => {
  const filled = { on: null, text: '', key: null, direction: '', within: null, gone: null, timeout_ms: '' };
  expect(await act({ screen: '', lease: null, project: '', steps: [{ ...filled, type: 'back' }] })).toEqual([
    { type: 'back' },
  ]);
  // An empty text clears the field.
  const clear = { type: 'type', text: '', clear: true };
  expect(await act({ steps: [{ ...clear, on: '', secret: null }] })).toEqual([clear]);
});

it('arguments may be missing, null, text or empty', async () => {
  const listed = await call('list_devices', {});
  expect(listed).toMatchObject({ isError: false, text: expect.stringContaining(phone.deviceId) });
  const withoutMark = ({ text }: Called): string => text.replaceAll(/data \w+/g, '');
  for (const params of [
    {},
    { arguments: null },
    { arguments: '' },
    { arguments: '{}' },
    { arguments: [] },
    { arguments: { arguments: '{"limit":"5"}' } },
    { arguments: { limit: '5', selector: null, search: '', state: '' } },
    { arguments: '{"limit":5,"selector":""}' },
  ])
    expect(withoutMark(await callRaw({ name: 'list_devices', ...params }))).toBe(withoutMark(listed));
});

it('messages may have null for their parameters', async () => {
  for (const params of [null, { cursor: null }, { _meta: null }])
    expect(await post({ method: 'tools/list', params })).toContain('"name":"act"');
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_projects', arguments: null } },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_projects', arguments: '{}' } },
  ];
  const { text } = await phone.api('owner')('POST', '/mcp', {
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-03-26' },
    body: batch,
  });
  expect(text.match(/--- projects/g)).toHaveLength(2);
});

it('what is wrong is one sentence: the place, what is expected, an example, and what came', async () => {
  const device = phone.deviceId;
  const step = (one: unknown) => ['act', { device, steps: [{ type: 'back' }, one] }] as const;
  const steps = 'must be an array of 1 to 10 items, such as [{"type":"tap","on":3}]';
  const types = 'tap, long_press, type, key, swipe, scroll_to, launch, open_link, wait_for, back';
  for (const [[name, args], problem] of [
    [['act', { device, steps: 'back' }], `steps ${steps}; the text "back" came.`],
    [
      ['act', { device, steps: '[{"type":' }],
      `steps ${steps}; the text "[{\\"type\\":" came, which is not valid JSON.`,
    ],
    [['act', { device, steps: '' }], `steps ${steps}; an empty text came.`],
    [['act', { device, steps: [] }], `steps ${steps}; an array of 0 items came.`],
    [['act', { device }], `steps is missing: it ${steps}.`],
    [
      ['act', { steps: [] }],
      'device is missing: it must be a text of at most 100 characters, such as "SIM0001".',
    ],
    [
      ['act', { device: 7, steps: [] }],
      'device must be a text of at most 100 characters, such as "SIM0001"; the number 7 came.',
    ],
    [step('back'), 'steps[1] must be an object, such as {"type":"tap","on":3}; the text "back" came.'],
    [
      step({ type: 'click' }),
      `steps[1].type must be one of ${types}, such as {"type":"tap","on":3}; the text "click" came.`,
    ],
    [step({ on: 3 }), `steps[1].type is missing: it must be one of ${types}, such as {"type":"tap","on":3}.`],
    [
      step({ type: 'tap', target: 'OK' }),
      'steps[1] takes type, on, close_keyboard, such as {"type":"tap","on":3}; the field "target" came.',
    ],
    [
      step({ type: 'wait_for', on: 3 }),
      'steps[1].on must be a text of 1 to 200 characters or an object of at least 1 field, such as "Wi-Fi"; the number 3 came.',
    ],
    [
      step({ type: 'tap', on: true }),
      'steps[1].on must be a whole number from 1 to 9999, a text of 1 to 200 characters or an object of at least 1 field, such as 3; true came.',
    ],
    [
      step({ type: 'tap', on: { rightOf: { hasText: 5 } } }),
      'steps[1].on.rightOf.hasText must be a text of 1 to 200 characters, such as "text"; the number 5 came.',
    ],
    [
      ['act', { device, steps: [{ type: 'tap', on: 3 }] }],
      'screen is missing: a step names a line by its number, and screen is the ID of the screen that it is on, such as "7f3a91c2-5be014".',
    ],
    [
      ['list_devices', { limit: 'many' }],
      'limit must be a whole number from 1 to 200, such as 1; the text "many" came.',
    ],
    [['list_devices', 5], 'The arguments must be an object, such as {}; the number 5 came.'],
    [
      ['read_screen', { device, picture: 'big' }],
      'picture must be one of none, small, large, such as "none"; the text "big" came.',
    ],
    [
      ['run_code', { device, code: 'x', phone_settings: { headsUp: false } }],
      'phone_settings takes http_proxy, time_zone, locale, location, brightness, heads_up, such as {"time_zone":"Europe/Berlin"}; the field "headsUp" came.',
    ],
  ] as const)
    expect(await call(name, args)).toEqual({ isError: true, text: problem });
});

it('a text that looks like a number or a selector is told of when nothing has it', async () => {
  const hint = 'on was sent as a text, which is searched for literally';
  const callTap = async (on: string): Promise<Called> => {
    const answered = answerActs('gone');
    const called = await call('act', { device: phone.deviceId, steps: [{ type: 'tap', on }] });
    await answered;
    return called;
  };
  for (const on of ['3', '{"hasText":"OK"}']) expect((await callTap(on)).text).toContain(hint);
  expect((await callTap('Settings')).text).not.toContain(hint);
});

it('JSON text may hold no more than arguments themselves', async () => {
  const many = await call('run_code', {
    device: phone.deviceId,
    code: 'x',
    parameters: JSON.stringify({ all: Array.from({ length: 10_002 }, () => 1) }),
  });
  expect(many).toEqual({
    isError: true,
    text: 'The JSON text in the arguments has more than 10000 values.',
  });
  const deep = await call('act', { device: phone.deviceId, steps: '['.repeat(100) });
  expect(deep).toMatchObject({ isError: true, text: expect.stringContaining('levels deep') });
});

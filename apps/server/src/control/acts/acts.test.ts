import type { HostActAnswer, HostActStep } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { SharedPhone } from '../../fleet/devices/testing/shared-phone.ts';
import type { ApiReply } from '../../testing/api-caller.ts';
import { stringAt } from '../../testing/string-at.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const shown = (...texts: string[]): string =>
  JSON.stringify({
    captured_at: 1,
    rotation: 0,
    width: 100,
    height: 200,
    picture: null,
    tree: {
      packageName: 'com.shop',
      source: '',
      root: {
        children: texts.map((text) => ({ className: 'android.widget.Button', text, clickable: true })),
      },
    },
  });

/** Answers the next question of this type. */
function answer(type: 'screen' | 'act', payload: string): Promise<readonly HostActStep[]> {
  return phone.host.waitFor(type).then((question) => {
    const head = JSON.stringify({ type, request_id: question.request_id });
    phone.host.sendRaw(Buffer.from(`${head}\n${payload}`));
    return question.type === 'act' ? question.steps : [];
  });
}

const acted = (results: HostActAnswer['results'], screen: string, code: string[] = []): string =>
  `${JSON.stringify({ results, captures: 2, settled: true, code })}\n${screen}`;
const done = { state: 'done' } as const;

const path = (): string => `/api/v2/devices/${phone.deviceId}`;

async function read(
  caller: 'owner' | 'launch',
  texts: readonly string[],
  query = 'view=compact',
): Promise<ApiReply> {
  const answered = answer('screen', shown(...texts));
  const reply = await phone.api(caller)('GET', `${path()}/screen?${query}`);
  await answered;
  return reply;
}

const readInVain = (caller: 'owner' | 'launch', query: string): Promise<ApiReply> =>
  phone.api(caller)('GET', `${path()}/screen?${query}`);

const act = (caller: Parameters<SharedPhone['api']>[0], body: object): Promise<ApiReply> =>
  phone.api(caller)('POST', `${path()}/act`, { body });

const screenIdOf = (reply: ApiReply): string => stringAt(reply.body['screen'], 'screen_id');

describe('a compact screen', () => {
  it('has numbers, and a diff keeps those of what is the same', async () => {
    const first = await read('owner', ['Milk', 'Bread', 'Salt', 'Tea', 'Oil']);
    expect(first.body).toMatchObject({
      screen: {
        view: 'compact',
        lines: expect.arrayContaining(['1 button "Milk"', '2 button "Bread"', '5 button "Oil"']),
      },
    });
    const since = `view=diff&since=${screenIdOf(first)}`;
    const next = await read('owner', ['Bread', 'Salt', 'Tea', 'Oil', 'Rice'], since);
    expect(next.body).toMatchObject({ screen: { view: 'diff', lines: ['- 1', '+ 6 button "Rice"'] } });
  });

  it('of a megabyte, which a process of its own reads, is told as a short one is', async () => {
    const texts = Array.from({ length: 12_000 }, (_, at) => `Item ${at}`);
    const first = await read('owner', texts);
    expect(first.body).toMatchObject({
      screen: { lines: expect.arrayContaining(['1 button "Item 0"', '200 button "Item 199"']) },
    });
    const whole = await read('owner', texts, 'width=240');
    expect(whole.body).toMatchObject({ screen: { tree: { packageName: 'com.shop' } } });
    const since = `view=diff&since=${screenIdOf(first)}`;
    const next = await read('owner', ['First', ...texts], since);
    expect(next.body).toMatchObject({
      screen: { view: 'diff', lines: expect.arrayContaining(['+ 201 button "First"']) },
    });
    const answered = answer('screen', shown(...texts).replace('"rotation":0', '"rotation":7'));
    expect(await readInVain('owner', 'view=compact')).toMatchObject({
      status: 502,
      body: { code: 'screen_failed' },
    });
    await answered;
  });

  it('is known for ten minutes, to its reader alone, and for its phone alone', async () => {
    const since = `view=diff&since=${screenIdOf(await read('owner', ['Milk']))}`;
    expect(await readInVain('launch', since)).toMatchObject({
      status: 404,
      body: { code: 'screen_expired' },
    });
    phone.server.clock.advance(9 * 60_000);
    await phone.host.heartbeat();
    expect((await read('owner', ['Milk'], since)).status).toBe(200);
    phone.server.clock.advance(2 * 60_000);
    await phone.host.heartbeat();
    const late = await readInVain('owner', since);
    expect(late.body).toMatchObject({
      code: 'screen_expired',
      message: expect.stringContaining('Read the screen again'),
    });
    const unknown = await readInVain('owner', 'view=diff&since=00000000-000000');
    expect(unknown.body).toMatchObject({ code: 'screen_expired' });
    expect(await readInVain('owner', 'view=diff')).toMatchObject({ status: 400 });
  });
});

describe('steps', () => {
  it('reach the host with what tells the node from others, and are answered with what has changed', async () => {
    const screen_id = screenIdOf(await read('owner', ['Milk', 'Bread', 'Salt', 'Tea', 'Oil']));
    const asked = answer('act', acted([done], shown('Milk', 'Bread', 'Salt', 'Tea', 'Pay')));
    const reply = await act('owner', { screen_id, steps: [{ type: 'tap', on: 2 }] });
    expect(reply.body).toMatchObject({
      done: true,
      steps: [{ type: 'tap', state: 'done' }],
      screen: { view: 'diff', lines: ['- 5', '+ 6 button "Pay"'] },
    });
    expect(await asked).toEqual([
      { type: 'tap', on: { identity: expect.objectContaining({ key: expect.stringContaining('Bread') }) } },
    ]);
  });

  it('end at the first that fails, whose candidates have numbers', async () => {
    const refused: HostActAnswer['results'][number] = {
      state: 'failed',
      refusal: 'several',
      message: '2 nodes fit',
      candidates: [0, 2],
    };
    const answered = answer('act', acted([done, refused], shown('Add', 'Milk', 'Add')));
    const steps = [{ type: 'back' }, { type: 'tap', on: 'Add' }, { type: 'back' }];
    const { body } = await act('owner', { steps });
    await answered;
    expect(body).toMatchObject({
      done: false,
      steps: [
        { state: 'done' },
        { state: 'failed', refusal: 'several', candidates: ['1 button "Add"', '3 button "Add"'] },
        { state: 'skipped' },
      ],
    });
  });

  it('that take long are asked for again, with the time that is left', async () => {
    const first = answer('act', acted([done, { state: 'unfinished' }], shown('Wait')));
    const waiting = act('owner', {
      steps: [{ type: 'back' }, { type: 'wait_for', on: 'Done', timeout_ms: 8000 }, { type: 'back' }],
    });
    await first;
    const steps = await answer('act', acted([done, done], shown('Done')));
    expect(await waiting).toMatchObject({ body: { done: true, captures: 4 } });
    expect(steps).toMatchObject([{ type: 'wait_for', timeout_ms: expect.any(Number) }, { type: 'back' }]);
    expect(
      Math.min(...steps.map((step) => ('timeout_ms' in step ? Number(step.timeout_ms) : 8000))),
    ).toBeLessThan(8000);
  });

  it.each([
    ['a number without its screen', { steps: [{ type: 'tap', on: 1 }] }, 'Field screen_id is missing'],
    ['no text and no secret', { steps: [{ type: 'type' }] }, 'needs either text or secret'],
    ['a secret of no project', { steps: [{ type: 'type', secret: 'pin' }] }, 'Field project_id is missing'],
    ['eleven of them', { steps: Array.from({ length: 11 }, () => ({ type: 'back' })) }, 'steps'],
    ['another field', { steps: [{ type: 'back', x: 1 }] }, 'steps'],
  ])('with %s are refused before anything is done', async (_, body, message) => {
    const reply = await act('owner', body);
    expect([reply.status, reply.body['message']]).toEqual([400, expect.stringContaining(message)]);
    expect(phone.host.received.at(-1)?.type).not.toBe('act');
  });
});

describe('a host that lies', () => {
  const unfinished = { state: 'unfinished' } as const;
  const failed = { state: 'failed' } as const;

  /** Answers every question of this act at once, and returns how many there were. */
  async function lie(
    results: HostActAnswer['results'],
    { code = [], steps }: { code?: string[]; steps: number },
  ): Promise<{ reply: ApiReply; questions: number }> {
    let questions = 0;
    phone.host.answerWith = (question) => {
      if (question.type !== 'act') return undefined;
      questions += 1;
      const { request_id } = question;
      return Buffer.from(
        `${JSON.stringify({ type: 'act', request_id })}\n${acted(results, shown('x'), code)}`,
      );
    };
    const body = { steps: Array.from({ length: steps }, () => ({ type: 'back' })), timeout_ms: 2000 };
    const reply = await act('owner', body);
    phone.host.answerWith = () => undefined;
    return { reply, questions };
  }

  it.each<[string, HostActAnswer['results'], number]>([
    ['whose time is never over', [unfinished], 3],
    ['that goes on behind what is unfinished', [unfinished, done], 3],
    ['that goes on behind what has failed', [failed, done], 3],
  ])('%s is asked once, and the act ends', async (_, results, steps) => {
    const { reply, questions } = await lie(results, { steps });
    expect([reply.status, reply.body['code'], questions]).toEqual([502, 'host_request_failed', 1]);
  });

  it('is asked no more often than there are steps, and its code is kept as far as an act has room', async () => {
    const lines = Array.from({ length: 2 }, () => 'x'.repeat(9000));
    const { reply, questions } = await lie([done], { code: lines, steps: 10 });
    expect([reply.body['done'], questions]).toEqual([true, 10]);
    const code = reply.body['code'];
    expect(JSON.stringify(code).length).toBeLessThan(70_000);
    expect(code).toEqual(expect.arrayContaining([expect.stringContaining('was left out')]));
  });
});

describe('who may act', () => {
  const steps = [{ type: 'back' }];

  it('is who may touch the phone', async () => {
    expect(await act('stranger', { steps })).toMatchObject({
      status: 404,
      body: { code: 'device_not_found' },
    });
    expect(await act('view', { steps })).toMatchObject({ status: 403 });
    expect(await act('limited token', { steps })).toMatchObject({ status: 403 });
    const answered = answer('act', acted([done], shown('x')));
    expect(await act('launch', { steps })).toMatchObject({ status: 200 });
    await answered;
  });

  it('is not somebody else than who has leased it, and nobody while an automation runs on it', async () => {
    await phone.lease('launch');
    expect(await act('owner', { steps })).toMatchObject({ status: 409, body: { code: 'device_leased' } });
    await phone.endLease('launch');
    await phone.runDirect('launch');
    expect(await act('owner', { steps })).toMatchObject({ status: 409, body: { code: 'device_in_use' } });
  });

  it('is who shows the lease, when it was taken for one program alone', async () => {
    const lease = (body: object): Promise<ApiReply> =>
      phone.api('launch')('POST', `${path()}/lease`, { body });
    const leaseId = stringAt((await lease({ exclusive: true })).body['lease'], 'lease_id');
    expect(await lease({ exclusive: true })).toMatchObject({ body: { code: 'device_leased' } });
    expect(await act('launch', { steps })).toMatchObject({ body: { code: 'device_leased' } });
    expect(await phone.touch('launch')).toMatchObject({ body: { code: 'device_leased' } });
    const answered = answer('act', acted([done], shown('x')));
    expect(await act('launch', { steps, lease_id: leaseId })).toMatchObject({ status: 200 });
    await answered;
    expect(await lease({ lease_id: leaseId })).toMatchObject({ body: { lease: { lease_id: leaseId } } });
    await phone.endLease('launch');
    expect(await act('launch', { steps, lease_id: leaseId })).toMatchObject({ body: { code: 'lease_lost' } });
    const device = (await phone.read('view')).text;
    expect(device).not.toContain(leaseId);
  });
});

it('what was done during a lease is kept as code for its holder, until the lease ends', async () => {
  const code = (caller: 'owner' | 'launch', query = ''): Promise<ApiReply> =>
    phone.api(caller)('GET', `${path()}/lease/code${query}`);
  const actWith = async (line: string): Promise<ApiReply> => {
    const answered = answer('act', acted([done], shown('x'), [line]));
    const reply = await act('launch', { steps: [{ type: 'back' }] });
    await answered;
    return reply;
  };
  expect((await actWith('await first();')).body['code']).toEqual(['await first();']);
  expect(await code('launch')).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
  await phone.lease('launch');
  await actWith('await second();');
  await actWith('await third();');
  expect(await code('launch')).toMatchObject({ body: { code: ['await second();', 'await third();'] } });
  expect(await code('owner')).toMatchObject({ status: 409, body: { code: 'device_leased' } });
  expect(await code('launch', '?lease_id=x')).toMatchObject({ body: { code: 'lease_lost' } });
  await phone.endLease('launch');
  await phone.lease('launch');
  expect(await code('launch')).toMatchObject({ body: { code: [] } });
  await phone.endLease('launch');
});

it('the secret of a project is typed by whoever may write it, and told in no reply and no audit event', async () => {
  const value = 'a-secret-of-the-tests';
  const secret = `/api/v2/automation-project/${phone.project.id}/secrets/pin`;
  await phone.api('owner')('PUT', secret, { body: { value } });
  const steps = [{ type: 'type', secret: 'pin' }];
  const asked = answer('act', acted([done], shown('x')));
  const reply = await act('launch', { steps, project_id: phone.project.id });
  expect(await asked).toEqual([{ type: 'type', text: value, secret: 'pin' }]);
  await phone.deleteEditor('launch');
  expect(await act('launch', { steps, project_id: phone.project.id })).toMatchObject({ status: 404 });
  await phone.putEditor('launch');
  const missing = [{ type: 'type', secret: 'none' }];
  expect(await act('owner', { steps: missing, project_id: phone.project.id })).toMatchObject({
    body: { code: 'secret_not_found' },
  });
  const audit = await phone.api('owner')('GET', '/api/v2/audit');
  expect(audit.text).toContain('act_on_device');
  expect(reply.text + audit.text).not.toContain(value);
});

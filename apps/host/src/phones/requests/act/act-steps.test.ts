import {
  type ActSelector,
  type HostActAnswer,
  type HostActStep,
  readCompact,
  numberScreen,
} from '@phalanx/protocol';
import { sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createServiceClock } from '../../../connection/service-clock.ts';
import type { Phone } from '../../phone.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from '../../testing/phone-test-bed.ts';
import { doActSteps } from './act-steps.ts';
import { PhoneEye } from './phone-look.ts';
import { createShop, isInView, shopPackage } from './testing/moving-shop.ts';

let bed: PhoneTestBed;
let simulated: SimulatedPhone;
let phone: Phone;
const { shop, app } = createShop();

beforeAll(async () => {
  bed = await createPhoneTestBed();
  simulated = await bed.startPreparedPhone({ serial: 'SIM1', apps: [...sampleApps, app] });
  const watch = bed.watch({ addresses: [simulated] });
  phone = await waitForPhone(watch, ({ state }) => state.state === 'ready');
  await phone.driver().call('app.launch', { packageName: shopPackage });
});
afterAll(() => bed.close());
beforeEach(async () => {
  await phone.driver().call('app.launch', { packageName: shopPackage });
  simulated.android.showDialog(undefined);
  show('Milk', 'Bread', 'Salt');
});

let lastUid = 0;
const articlesOf = (names: readonly string[]) => names.map((name) => ({ uid: (lastUid += 1), name }));

function show(...names: string[]): void {
  Object.assign(shop, { articles: articlesOf(names), offset: 0, title: 'Shop' });
  shop.touched.length = 0;
  shop.redraw();
}

interface Acted extends HostActAnswer {
  readonly lines: readonly string[];
}

async function act(...steps: HostActStep[]): Promise<Acted> {
  const question = { type: 'act', request_id: '', serial: 'SIM1', steps, budget_ms: 6000 } as const;
  const answer = await doActSteps(phone, question, {
    clock: createServiceClock(),
    mayChangeApps: false,
    signal: AbortSignal.timeout(15_000),
    use: undefined,
    driver: () => phone.driver(),
  });
  const [head = '', screen = ''] = answer.toString().split('\n');
  const { tree, width, height } = JSON.parse(screen);
  return { ...JSON.parse(head), lines: numberScreen(readCompact({ tree, width, height })).lines };
}

/** Reads the lines of the screen as a caller gets them. */
async function read() {
  return (await new PhoneEye(phone.driver(), AbortSignal.timeout(15_000)).look()).compact.lines;
}

/** Returns the button of the article in this row of the list. */
async function readButton(row: number) {
  const line = (await read()).filter(({ texts }) => texts[0] === 'Add')[row];
  if (line === undefined) throw new Error('no such button');
  return { identity: line.identity };
}

const first = ({ results: [result] }: Acted): HostActAnswer['results'][number] | undefined => result;

describe('a node that was read is touched where it is now', () => {
  test('on a screen that has not changed, with one reading before and one after', async () => {
    const on = await readButton(1);
    const acted = await act({ type: 'tap', on });
    expect([first(acted)?.state, shop.touched]).toEqual(['done', [shop.articles[1]?.uid]]);
    expect(acted).toMatchObject({ settled: true, captures: 2 });
  });

  test('in a list that has moved', async () => {
    const on = await readButton(1);
    const bread = shop.articles[1]?.uid;
    shop.articles = [...articlesOf(['Sugar', 'Tea']), ...shop.articles];
    shop.redraw();
    expect(first(await act({ type: 'tap', on }))?.state).toBe('done');
    expect(shop.touched).toEqual([bread]);
  });

  test('and not when it is gone, has equals, or a dialog has come up', async () => {
    const on = await readButton(1);
    shop.articles = shop.articles.filter(({ name }) => name !== 'Bread');
    shop.redraw();
    expect(first(await act({ type: 'tap', on }))).toMatchObject({ state: 'failed', refusal: 'gone' });
    shop.articles = articlesOf(['Bread', 'Milk', 'Bread']);
    shop.redraw();
    expect(first(await act({ type: 'tap', on }))).toMatchObject({ refusal: 'several', candidates: [3, 7] });
    simulated.android.showDialog({ title: 'Rate us', message: 'Now?', buttons: [{ label: 'Add' }] });
    const refused = await act({ type: 'tap', on }, { type: 'back' });
    expect(refused.results).toEqual([expect.objectContaining({ refusal: 'gone' })]);
    expect(refused.lines.join('\n')).toContain('Rate us');
    expect(shop.touched).toEqual([]);
  });
});

test('steps find their nodes by text and selector, wait, scroll and type', async () => {
  show(...Array.from({ length: 30 }, (_, at) => `Article ${at}`));
  const beside: ActSelector = { isButton: true, rightOf: { hasText: 'Article 3' }, nth: 0 };
  const acted = await act(
    { type: 'wait_for', on: 'Article 2', timeout_ms: 1000 },
    { type: 'tap', on: beside },
    { type: 'tap', on: 'Pay' },
    { type: 'launch', package_name: 'dev.phalanx.sample.form' },
    { type: 'type', on: { hasId: 'name' }, text: 'Ada' },
    { type: 'scroll_to', on: { hasId: 'submit' }, direction: 'down' },
  );
  expect(acted.results.map(({ state, message }) => message ?? state)).toEqual(Array(6).fill('done'));
  expect(shop.touched).toEqual([shop.articles[3]?.uid, 'Pay']);
});

test('what several fit, does not come, or lies under something else is refused', async () => {
  expect(first(await act({ type: 'tap', on: 'Add' }))).toMatchObject({ refusal: 'several' });
  expect(first(await act({ type: 'wait_for', on: 'Nothing', timeout_ms: 300 }))).toMatchObject({
    refusal: 'timeout',
  });
  expect(first(await act({ type: 'scroll_to', on: 'Nothing' }))).toMatchObject({ refusal: 'gone' });
  expect(first(await act({ type: 'wait_for', on: 'Milk', gone: true, timeout_ms: 60_000 }))).toEqual({
    state: 'unfinished',
  });
});

test('a secret that was typed is read from the phone by nobody for ten minutes', async () => {
  const text = 'correct horse battery';
  const acted = await act(
    { type: 'launch', package_name: 'dev.phalanx.sample.form' },
    { type: 'type', on: { hasId: 'name' }, text, secret: 'PASSWORD' },
  );
  expect(acted.results.map(({ state }) => state)).toEqual(['done', 'done']);
  expect(acted.lines.join('\n')).not.toContain(text);
  expect(acted.code?.slice(-2)).toEqual([
    "await (await agent.actions.waitForId('name')).tap();",
    "await agent.secrets.type('PASSWORD');",
  ]);
  expect(JSON.stringify((await read()).map((line) => line.text))).not.toContain(text);
});

test('what the keyboard lies over is touched when the caller lets it be closed, and so does the code', async () => {
  const field = { hasId: 'search' };
  const refused = await act({ type: 'tap', on: field }, { type: 'tap', on: 'Pay' });
  expect(refused.results.map(({ refusal }) => refusal)).toEqual([undefined, 'covered']);
  expect(refused.results[1]?.message).toContain('close_keyboard');
  const tapped = await act({ type: 'tap', on: 'Pay', close_keyboard: true });
  expect([first(tapped)?.state, shop.touched, simulated.android.isKeyboardShown]).toEqual([
    'done',
    ['Pay'],
    false,
  ]);
  expect(tapped.code).toEqual(["await (await agent.actions.waitForId('pay')).tap({ closeKeyboard: true });"]);
  const others = await act(
    { type: 'tap', on: field },
    { type: 'long_press', on: 'Pay', close_keyboard: true },
    { type: 'type', on: field, text: 'tea', close_keyboard: true },
  );
  expect(others.results.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  expect(others.code?.slice(1)).toEqual([
    "await (await agent.actions.waitForId('pay')).longPress(1000, { closeKeyboard: true });",
    "await (await agent.actions.waitForId('search')).writeText('tea', { closeKeyboard: true });",
  ]);
});

/** Creates deterministic dice: the same seed gives the same numbers. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const names = ['Milk', 'Bread', 'Salt', 'Tea', 'Sugar', 'Rice', 'Oil', 'Flour', 'Corn', 'Beans'];

type Change = 'none' | 'scrolled' | 'inserted' | 'shuffled' | 'removed' | 'replaced' | 'dialog' | 'moving';
const changes: readonly Change[] = [
  ...(['none', 'scrolled', 'inserted', 'shuffled', 'removed', 'replaced', 'dialog', 'moving'] as const),
];

function change(kind: Change, dice: (sides: number) => number): void {
  const shuffled = (): typeof shop.articles => shop.articles.toSorted(() => dice(3) - 1);
  if (kind === 'scrolled') shop.offset += dice(900);
  if (kind === 'inserted') shop.articles = [...articlesOf([names[dice(10)] ?? '']), ...shop.articles];
  if (kind === 'shuffled') shop.articles = shuffled();
  if (kind === 'removed') shop.articles = shop.articles.filter(() => dice(4) > 0);
  if (kind === 'replaced') shop.articles = articlesOf(shop.articles.map(() => names[dice(10)] ?? ''));
  if (kind === 'dialog')
    simulated.android.showDialog({
      title: 'Offer',
      message: 'Take it?',
      buttons: [{ label: 'Add', onTap: () => void shop.touched.push('dialog') }],
    });
  if (kind === 'moving') moveFor(6);
  shop.redraw();
}

function moveFor(moves: number): void {
  if (moves === 0) return;
  shop.offset += 40;
  shop.redraw();
  setTimeout(() => moveFor(moves - 1), 40).unref();
}

/** Number of touches. `ACTS=1000 npx vitest …` runs longer. */
const actCount = Number(process.env['ACTS'] ?? 150);

test('of many touches while the screen changes none goes wrong, and few are refused in vain', async () => {
  const dice = createDice(7);
  const told = { acts: 0, touched: 0, wrong: 0, refused: 0, needless: 0, readings: 0 };
  for (; told.acts < actCount; told.acts += 1) {
    // Some lists contain several articles of the same name.
    const pool = dice(3) === 0 ? 4 : 10;
    const rows = 6 + dice(12);
    show(...Array.from({ length: rows }, (_, at) => names[(pool === 10 ? at : dice(4)) % 10] ?? ''));
    simulated.android.showDialog(undefined);
    const inView = shop.articles.filter(({ uid }) => isInView(shop, uid));
    const row = dice(inView.length);
    const target = inView[row];
    const on = await readButton(row);
    const kind = changes[dice(changes.length)] ?? 'none';
    change(kind, dice);
    const acted = await act({ type: 'tap', on });
    told.readings += acted.captures;
    const [touched] = shop.touched;
    const twin = inView.filter(({ name }) => name === target?.name).length > 1;
    const now = shop.articles.filter((one) => one.name === target?.name && isInView(shop, one.uid));
    // The name alone identifies the target when all articles were replaced.
    const isSameName = shop.articles.find(({ uid }) => uid === touched)?.name === target?.name;
    const isRight =
      touched === target?.uid ||
      (isSameName && (kind === 'replaced' || (!twin && now.length === 1 && touched === now[0]?.uid)));
    if (touched === undefined) {
      told.refused += 1;
      const isThere = kind !== 'dialog' && target !== undefined && isInView(shop, target.uid);
      if (isThere && (kind === 'none' || (!twin && now.length === 1))) told.needless += 1;
    } else if (isRight && shop.touched.length === 1) told.touched += 1;
    else told.wrong += 1;
  }
  console.log(told, `readings of the phone an act: ${(told.readings / told.acts).toFixed(2)}`);
  expect(told.wrong).toBe(0);
  expect(told.needless / told.acts).toBeLessThanOrEqual(0.02);
}, 400_000);

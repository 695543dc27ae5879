import { errorTable, helpRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../../testing/test-server.ts';
import { HelpPages } from './help-pages.ts';
import { pageGroups } from './page-groups.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

/** Sends a request without a token. */
const get = async (address: string) => {
  const reply = await fetch(`${server.url}${address}`);
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
};

describe('the documentation of a running service', () => {
  test('is there for programs, page by page and as a whole', async () => {
    const list = await get('/llms.txt');
    expect(list).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
    const addresses = [...list.text.matchAll(/\]\((\/\S+)\)/g)].map(([, address = '']) => address);
    expect(addresses).toEqual(expect.arrayContaining(['/help/errors.md', '/help/types/agent.d.ts.md']));
    for (const address of addresses) expect([address, (await get(address)).status]).toEqual([address, 200]);
    expect(await get('/help/automation/waits.md')).toMatchObject({
      type: 'text/markdown; charset=utf-8',
      text: expect.stringMatching(/^# /m),
    });
    const whole = (await get('/llms-full.txt')).text;
    expect(whole).toContain('### device_leased');
    expect(whole).not.toContain('**Decided:**');
  });

  test('is searched by words and codes, and gives the section', async () => {
    const { text } = await get(`${helpRoutes.search.path}?query=device_leased`);
    const [first, ...others] = JSON.parse(text).results;
    expect(first).toMatchObject({
      page: { name: 'errors' },
      section: 'device_leased',
      anchor: 'device_leased',
    });
    expect(others).not.toEqual([]);
    const page = await get(`${helpRoutes.read.path}?name=glossary`);
    expect(JSON.parse(page.text)).toMatchObject({ page: { title: 'Glossary' } });
    expect(await get(`${helpRoutes.read.path}?name=../package`)).toMatchObject({
      status: 404,
      text: expect.stringContaining('help_page_not_found'),
    });
  });
});

test('each code of an error has its message and what to do on the page of errors', async () => {
  const { text = '' } = (await HelpPages.read()).find('errors') ?? {};
  const entries = new Map(
    [...text.matchAll(/^### (\w+)\n\n> (.+)\n\n\S/gm)].map(([, code, said]) => [code, said]),
  );
  const expected = Object.entries(errorTable).map(([code, { status, message }]) => [
    code,
    `${status}: ${message}`,
  ]);
  expect(Object.fromEntries(entries)).toEqual(Object.fromEntries(expected));
});

test('each page has its group, and each group has its pages', async () => {
  const { pages } = await HelpPages.read();
  const written = pages.map(({ name }) => name).filter((name) => !name.startsWith('types/'));
  expect(written).toEqual(pageGroups.flatMap((group) => group.pages));
  expect(new Set(pages.filter(({ name }) => name.startsWith('types/')).map(({ group }) => group))).toEqual(
    new Set(['Reference']),
  );
});

test('the same words are looked for once', async () => {
  const help = await HelpPages.read();
  const first = await help.search('Device, leased');
  expect(await help.search('device leased!')).toBe(first);
});

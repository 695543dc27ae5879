import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestServer } from '../../testing/test-server.ts';

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
let folder: string;
let server: TestServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-page-'));
  await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>Phalanx</title>');
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'assets/icon-1a.svg'), '<svg/>');
  server = await TestServer.start({ console: Promise.resolve(folder) });
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

const open = (address: string, headers: Record<string, string> = browser): Promise<Response> =>
  fetch(`${server.url}${address}`, { headers, redirect: 'manual' });

it('gives a browser a page for an address that does not exist, and everybody else the error of the API', async () => {
  const page = await open('/nothing/here');
  expect(page.status).toBe(404);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('<title>Phalanx</title>');
  for (const [address, headers] of [
    ['/nothing/here', { accept: 'application/json' }],
    ['/api/v2/nothing', browser],
  ] as const) {
    const refused = await open(address, headers);
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ code: 'route_not_found' });
  }
});

it.each([
  ['/review', '/groups'],
  ['/fleet', '/devices'],
  ['/webhooks', '/settings/webhooks'],
])('leads from %s to the page that the navigation calls so', async (name, address) => {
  const answer = await open(name);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, address]);
});

it('gives its icon to pages that name none', async () => {
  // Polls, because the server replies before it has read the console's files.
  const iconOf = async (): Promise<unknown[]> => {
    const { status, headers } = await open('/favicon.ico', { accept: 'image/*' });
    return [status, headers.get('location')];
  };
  await expect.poll(iconOf).toEqual([302, '/assets/icon-1a.svg']);
});

it('gives the page for every address of the navigation', async () => {
  const names = ['start', 'devices', 'projects', 'runs', 'stats', 'jobs', 'groups', 'records'];
  for (const name of [...names, 'settings', 'settings/audit', 'help'])
    expect((await open(`/${name}`)).status, name).toBe(200);
});

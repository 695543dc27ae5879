import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { candidatesOf } from './name-files.ts';
import { NameResolver } from './name-resolver.ts';
import { NameServer } from './testing/name-server.ts';

let folder: string;
let server: NameServer;
let resolver: NameResolver;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'names-'));
  server = await NameServer.start({ 'hooks.example.com': '192.0.2.7' });
  const hostsFile = path.join(folder, 'hosts');
  await writeFile(hostsFile, '192.0.2.9 printer.example.com  Printer # on the first floor\n::7 printer\n');
  resolver = new NameResolver({ servers: [server.address], hostsFile });
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** Resolves with the addresses, or with the code of the failure. */
const lookUp = (owner: string, name: string, family = 0): Promise<string[] | string> =>
  new Promise((settle) => {
    resolver.of(owner)(name, { all: true, family }, (error, addresses) =>
      settle(error === null ? addresses.map(({ address }) => address) : (error.code ?? error.message)),
    );
  });

it('a name is looked up in the hosts file, then at the name server', async () => {
  expect(await lookUp('ada', 'PRINTER.example.com')).toEqual(['192.0.2.9']);
  expect(await lookUp('ada', 'printer')).toEqual(['192.0.2.9', '::7']);
  expect(await lookUp('ada', 'printer', 6)).toEqual(['::7']);
  expect(await lookUp('ada', 'localhost')).toEqual(['127.0.0.1', '::1']);
  expect(server.asked).toEqual([]);
  expect(await lookUp('ada', 'hooks.example.com')).toEqual(['192.0.2.7']);
  expect(await lookUp('ada', 'nobody.example.com')).toBe('ENOTFOUND');
});

it('names whose server is silent hold up nobody but their owner, of whom a few are asked at a time', async () => {
  const silent = Array.from({ length: 12 }, (_, at) => `silent-${at}.example.com`);
  const pending = silent.map((name) => lookUp('mallory', name));
  let ended = 0;
  for (const one of pending) void one.then(() => (ended += 1));
  expect(await lookUp('alice', 'hooks.example.com')).toEqual(['192.0.2.7']);
  expect(ended).toBe(0);
  const asked = (): string[] =>
    [...new Set(server.asked.filter((name) => name.startsWith('silent')))].toSorted();
  await expect.poll(asked).toEqual(silent.slice(0, 4));
});

it('a name whose server is silent fails as one that may be there later', async () => {
  expect(await lookUp('mallory', 'silent.example.com')).toBe('EAI_AGAIN');
});

it('slow names of a house of some owners hold up another one for the one that is under way', async () => {
  const asked: string[] = [];
  const slow: (() => void)[] = [];
  resolver = new NameResolver({
    servers: [server.address],
    hostsFile: path.join(folder, 'none'),
    askSystem: async (name) => {
      asked.push(name);
      if (name.startsWith('slow')) await new Promise<void>((resolve) => slow.push(resolve));
      return [{ address: '192.0.2.8', family: 4 }];
    },
  });
  const owners = ['mallory', 'mallory 2', 'mallory 3', 'mallory 4', 'mallory 5'];
  const pending = owners.flatMap((owner, of) =>
    Array.from({ length: 4 }, (_, at) => lookUp(owner, `slow-${of}-${at}.lan`)),
  );
  await expect.poll(() => asked.length).toBe(1);
  await expect.poll(() => server.asked.filter((name) => name.startsWith('slow')).length).toBe(40);
  slow.shift()?.();
  await expect.poll(() => asked.length).toBe(2);
  const ofAlice = lookUp('alice', 'nas.lan');
  await expect.poll(() => server.asked.filter((name) => name === 'nas.lan').length).toBe(2);
  const second = asked[1] ?? '';
  while (!asked.includes('nas.lan')) {
    await expect.poll(() => slow.length).toBe(1);
    slow.shift()?.();
    await new Promise(setImmediate);
  }
  expect(await ofAlice).toEqual(['192.0.2.8']);
  expect(asked.indexOf('nas.lan') - asked.indexOf(second)).toBeLessThanOrEqual(owners.length);
  while (asked.length < pending.length + 1) {
    slow.shift()?.();
    await new Promise(setImmediate);
  }
  slow.shift()?.();
  expect(await Promise.all(pending)).toEqual(pending.map(() => ['192.0.2.8']));
});

it('the search list is used as the system does', () => {
  const text = 'nameserver 192.0.2.1\nsearch first.example second.example\noptions timeout:1 ndots:2\n';
  expect(candidatesOf('a', text)).toEqual(['a.first.example', 'a.second.example', 'a']);
  expect(candidatesOf('a.b.c', text)).toEqual(['a.b.c', 'a.b.c.first.example', 'a.b.c.second.example']);
  expect(candidatesOf('a.b.', text)).toEqual(['a.b']);
  expect(candidatesOf('a.b', '')).toEqual(['a.b']);
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { requireCallers } from './authentication.ts';

const sources = path.join(import.meta.dirname, '../..');

/** Matches a decision in code, and not the role that a test of it asks for. */
const asksForRole = /\brole\b\s*(===|!==|==|!=)\s*'admin'|'admin'\s*(===|!==|==|!=)\s*\w*\.?role\b/;

it('no other file decides by the role of an administrator', () => {
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  const asking = names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('testing/'))
    .filter((name) => asksForRole.test(readFileSync(path.join(sources, name), 'utf8')));
  expect(asking).toEqual(['http/requests/policy.ts']);
});

it.each([
  ['no scope and no reach', {}],
  ['a scope and no reach', { scope: 'read' }],
  ['a reach of no limits and no scope', { reach: { projects: 'open', phones: 'none' } }],
  ['no scope, and a reach', { scope: null, reach: { projects: 'open', phones: 'none' } }],
  ['a scope, and null', { scope: 'read', reach: null }],
] as const)('a server with a route that has %s does not start', async (_, config) => {
  const app = fastify();
  const refuse = () => {
    throw new Error('nobody asks');
  };
  requireCallers(app, {
    authenticate: refuse,
    findCaller: refuse,
    addressOf: refuse,
    catchUp: refuse,
    admitStranger: refuse,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody asks
  });
  app.get('/door', { config }, () => 'open');
  await expect(app.ready()).rejects.toThrow('GET /door does not say which tokens may use it');
  await app.close();
});

import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as protocol from '@phalanx/protocol';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { adminToken, TestServer } from '../../testing/test-server.ts';

interface Media {
  schema: object;
  example?: unknown;
}
interface Operation {
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Reply>;
}
interface Reply {
  description: string;
  content: Record<string, Media>;
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const isContract = (value: unknown): value is protocol.RouteContract =>
  typeof value === 'object' && value !== null && 'operationId' in value && 'path' in value;

/** Every route that the protocol describes, whichever file of it. */
const contracts = Object.values<unknown>(protocol)
  .filter((routes): routes is Record<string, unknown> => typeof routes === 'object' && routes !== null)
  .filter((routes) => !Array.isArray(routes))
  .flatMap((routes) => Object.values(routes))
  .filter(isContract);

let server: TestServer;
let text: string;
let document: {
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components: {
    schemas: Record<string, Record<string, unknown>>;
    responses: Record<string, Reply>;
  };
};

beforeAll(async () => {
  server = await TestServer.start();
  ({ text } = await server.api('GET', '/api/openapi.json', { token: null }));
  document = JSON.parse(text);
});
afterAll(() => server.dispose());

/** Asks by Node's own client: `fetch` sends no such requests. */
async function statusOf(url: URL, method: string, headers: object, body = ''): Promise<number> {
  const authorization = `Bearer ${adminToken}`;
  const length = body === '' ? {} : { 'content-length': body.length };
  const sent = request(url, { method, headers: { authorization, ...length, ...headers } });
  const answered = once(sent, 'response');
  sent.end(body);
  const [response] = (await answered) as [IncomingMessage];
  response.destroy();
  return response.statusCode ?? 0;
}

/** Operations with the responses that they refer to. */
const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses, ...operation }]): [string, Operation] => [
      `${method} ${path}`,
      { ...operation, responses: Object.fromEntries(Object.entries(responses).map(resolved)) },
    ]),
  );

function resolved([status, response]: [string, Reply | { $ref: string }]): [string, Reply] {
  if (!('$ref' in response)) return [status, response];
  const found = document.components.responses[response.$ref.replace('#/components/responses/', '')];
  return [status, found ?? { description: '', content: {} }];
}

describe('the OpenAPI document', () => {
  it("is clean by redocly's recommended rules", async () => {
    // The success of a WebSocket is 101.
    const rules = { 'operation-2xx-response': 'off' } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  it('names the success of every operation', () => {
    const successes = operations().map(([name, { responses }]) => [name, Object.keys(responses)[0]]);
    expect(successes.filter(([, status]) => !/^(2\d\d|101)$/.test(status ?? ''))).toEqual([]);
  });

  it('has every contract of the protocol, and each is served', async () => {
    const ids = contracts.map((contract) => contract.operationId);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids.toSorted()).toEqual(protocol.allRoutes.map((contract) => contract.operationId).toSorted());
    for (const { method, path } of contracts) {
      const reply = await server.api(method, path.replaceAll(/:\w+/g, 'x'), { token: null });
      expect(['route_not_found', 'method_not_allowed']).not.toContain(reply.body['code']);
    }
  });

  it('has an example that fits for every JSON body of requests and replies', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema({ $id: 'doc', components: document.components });
    const checked = new Set<Media>();
    const check = (where: string, content: Record<string, Media>): string[] => {
      const media = content['application/json'];
      if (media === undefined || checked.has(media)) return [];
      checked.add(media);
      if (!('example' in media) && !('$ref' in media.schema)) return [];
      const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"doc#/'));
      const fits = ajv.validate(schema, media.example);
      return fits ? [] : [`${where}: ${ajv.errorsText()} in ${JSON.stringify(media.example)}`];
    };
    const problems = operations().flatMap(([name, { requestBody, responses }]) => [
      ...(requestBody === undefined ? [] : check(name, requestBody.content)),
      ...Object.entries(responses).flatMap(([status, { content }]) => check(`${name} ${status}`, content)),
    ]);
    expect(problems).toEqual([]);
  });

  it('says of every status what it means, with the codes of the failures', () => {
    for (const [name, { responses }] of operations())
      for (const [status, { description }] of Object.entries(responses)) {
        expect(description, `${name} ${status}`).not.toBe('');
        if (Number(status) >= 400) expect(description).toMatch(/^- `[a-z_]+`: /);
      }
  });

  it('names the schema of each JSON body', () => {
    const inline = operations().flatMap(([name, { requestBody, responses }]) =>
      Object.entries({ ...responses, ...(requestBody && { body: { ...requestBody, description: '' } }) })
        .filter(([, { content }]) => content['application/json']?.schema)
        .filter(([, { content }]) => !('$ref' in (content['application/json']?.schema ?? {})))
        .map(([status]) => `${name} ${status}`),
    );
    // Captures: whatever a host has stored.
    expect(inline.filter((one) => !one.includes('/{screen_id}/{kind} '))).toEqual([]);
  });

  it('names its schemas, with what is constant and what is one of a few', () => {
    const { schemas } = document.components;
    const names = [
      'Device',
      'Run',
      'Record',
      'Screen',
      'LogEntry',
      'Project',
      'File',
      'User',
      'Token',
      'Error',
    ];
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names));
    expect(schemas['ErrorCode']?.['enum']).toEqual(protocol.errorCodes);
    expect(schemas['DeviceState']?.['enum']).toContain('unauthorized');
    expect(text).toContain('"success":{"type":"boolean","const":true}');
  });

  it('is shown at /docs without a token, on a page that no other can frame or load scripts into', async () => {
    const reply = await server.api('GET', '/docs/', { token: null });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('text/html');
    expect(reply.headers.get('x-frame-options')).toBe('DENY');
    expect(reply.text).toContain('<title>Phalanx API</title>');
    expect(reply.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*frame-ancestors 'none'/,
    );
  });

  it('is not given to pages of other origins', async () => {
    const reply = await fetch(`${server.url}/api/openapi.json`, {
      headers: { origin: 'https://example.org' },
    });
    await reply.text();
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('lists what each operation answers to a method, a body and headers that it does not take', async () => {
    const unlisted: string[] = [];
    for (const [name, { responses }] of operations()) {
      const [method = '', path = ''] = name.toUpperCase().split(' ');
      const url = new URL(name.split(' ')[1]?.replaceAll(/{\w+}/g, 'x') ?? path, server.url);
      const asked: [string, Record<string, string>, string?][] = [
        ['TRACE', {}],
        [method, { expect: 'the-unexpected' }],
        [method, { 'if-none-match': '*' }],
        [method, { 'content-length': '10000000000' }],
        [method, { 'x-long': 'x'.repeat(100_000) }],
        [method, { 'content-type': 'text/plain' }, 'text'],
        [method, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{}'],
      ];
      for (const [verb, headers, body] of asked) {
        const status = await statusOf(url, verb, headers, body);
        if (!(status in responses)) unlisted.push(`${name} by ${verb}: ${status}`);
      }
    }
    expect(unlisted).toEqual([]);
  });
});

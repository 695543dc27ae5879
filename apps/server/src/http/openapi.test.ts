import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as protocol from '@phalanx/protocol';
import { validate } from '@readme/openapi-parser';

import { TestServer } from '../testing/test-server.ts';

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: unknown[];
  requestBody?: {
    content: Record<string, { schema: { properties: Record<string, unknown>; required: string[] } }>;
  };
  responses: Record<string, unknown>;
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const isContract = (value: unknown): value is protocol.RouteContract =>
  typeof value === 'object' && value !== null && 'operationId' in value && 'path' in value;

/** Every route that the protocol describes, whichever file of it. */
const contracts = Object.values<unknown>(protocol)
  .filter((routes): routes is Record<string, unknown> => typeof routes === 'object' && routes !== null)
  .flatMap((routes) => Object.values(routes))
  .filter(isContract);

let server: TestServer;
let document: { openapi: string; paths: Record<string, Partial<Record<Method, Operation>>> };

beforeAll(async () => {
  server = await TestServer.start();
  const { body } = await server.api('GET', '/api/openapi.json', { token: null });
  document = body as unknown as typeof document;
});
afterAll(() => server.dispose());

const operationOf = ({ path, method }: protocol.RouteContract): Operation | undefined =>
  document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase() as Method];

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    const result = await validate(structuredClone(document) as never);
    expect(result).toMatchObject({ valid: true });
  });

  it.each(contracts.map((contract) => ({ contract, name: `${contract.method} ${contract.path}` })))(
    'has $name with its summary, body and every status it may answer with',
    ({ contract }) => {
      const operation = operationOf(contract);
      expect(operation).toMatchObject({
        operationId: contract.operationId,
        summary: contract.summary,
        tags: [contract.tag],
      });
      const usual = contract.scope === null ? [] : [400, 401, 403, 500];
      const statuses = [...Object.keys(contract.responses).map(Number), ...usual, ...(contract.errors ?? [])];
      expect(Object.keys(operation?.responses ?? {}).map(Number)).toEqual(expect.arrayContaining(statuses));
      expect(operation?.requestBody === undefined).toBe(contract.body === undefined);
      expect(operation?.security).toEqual(contract.scope === null ? [] : undefined);
    },
  );

  it('names every operation once', () => {
    const ids = contracts.map((contract) => contract.operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('is shown at /docs without a token', async () => {
    const reply = await server.api('GET', '/docs/', { token: null });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('text/html');
  });
});

import type { AuthInfo, McpHttpHandler, McpServer } from '@modelcontextprotocol/server';
import type { HelpPage } from '@phalanx/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/api-error.ts';
import { apiCallsOf } from './tool.ts';
import { serverOf } from './mcp-server.ts';

const path = '/mcp';
const maxBodyBytes = 8 * 1024 * 1024;
const headerNames = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

interface Served {
  readonly version: string;
  /** Of the documentation. */
  readonly pages: readonly HelpPage[];
}

/** `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions, for 2025's clients and today's. */
export function serveMcp({ app, log }: Context, { version, pages }: Served): void {
  const servers = new WeakMap<AuthInfo, () => Promise<McpServer>>();
  let handler: Promise<McpHttpHandler> | undefined;
  const open = async (): Promise<McpHttpHandler> => {
    // It takes a tenth of a second and some megabytes, which most servers never need.
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    return createMcpHandler(
      ({ authInfo }) => {
        const build = authInfo === undefined ? undefined : servers.get(authInfo);
        if (build === undefined) throw new Error('an MCP request without a caller');
        return build();
      },
      { responseMode: 'json', onerror: (error) => log.debug({ err: error }, 'an MCP request failed') },
    );
  };
  app.addHook('onClose', async () => (await handler)?.close());

  app.post(
    path,
    { config: { scope: 'read', audit: null }, bodyLimit: maxBodyBytes },
    async (request, reply) => {
      requireToken(request);
      const { fetch } = await (handler ??= open());
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [...request.principal.scopes] };
      const api = apiCallsOf(app, request, clientOf(request));
      const { scopes } = request.principal;
      const calledTool = calledToolOf(request.body);
      servers.set(authInfo, () => serverOf({ version, pages, api, scopes, calledTool }));
      const answer = await fetch(requestOf(request, reply), { authInfo, parsedBody: request.body });
      return send(answer, reply);
    },
  );
}

/** A browser's own sign-in is not enough: a page could make it call tools. */
function requireToken({ headers }: FastifyRequest): void {
  if (headers.authorization === undefined) throw ApiError.of('unauthorized', { reason: 'No token came.' });
  if (headers.origin !== undefined && hostOf(headers.origin) !== headers.host)
    throw ApiError.of('foreign_page', { origin: headers.origin.slice(0, 200) });
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;

function requestOf({ headers }: FastifyRequest, reply: FastifyReply): Request {
  const left = new AbortController();
  // Also after an answer, which it does not change.
  reply.raw.once('close', () => left.abort());
  const given = headerNames.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return new Request(`http://localhost${path}`, {
    ...{ method: 'POST', headers: given, body: '{}', signal: left.signal },
  });
}

async function send(answer: Response, reply: FastifyReply): Promise<FastifyReply> {
  const type = answer.headers.get('content-type');
  void reply.code(answer.status).header('cache-control', 'no-store');
  if (type !== null) void reply.type(type);
  return reply.send(Buffer.from(await answer.arrayBuffer()));
}

function calledToolOf(body: unknown): string | undefined {
  const name = fieldOf(fieldOf(body, 'params'), 'name');
  return fieldOf(body, 'method') === 'tools/call' && typeof name === 'string' ? name : undefined;
}

const clientInfoKey = 'io.modelcontextprotocol/clientInfo';

/** What the program calls itself: in each request of today's protocol, or as an HTTP client. */
function clientOf({ body, headers }: FastifyRequest): string {
  const info = fieldOf(fieldOf(fieldOf(body, 'params'), '_meta'), clientInfoKey);
  const name = fieldOf(info, 'name') ?? headers['user-agent'];
  return typeof name === 'string' ? name.replaceAll(/[^\x20-\x7E]/g, '').slice(0, 100) : '';
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;

import { type Door, type ErrorCode, otherDoors } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Logger } from 'pino';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { actorOf, AuditEvent, type AuditEventSink } from '../../http/requests/audit-event.ts';
import type { Authenticate } from '../../http/requests/authentication.ts';
import { requireAllowed } from '../../http/requests/policy.ts';
import { asApiError, logFailure, setRetryAfter } from '../../http/requests/replies/error-replies.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import {
  editors,
  onProject,
  type ProjectAccess,
  readers,
  type SharedProject,
} from '../projects/project-access.ts';
import type { SharedServices } from '../projects/project-files.ts';
import type { Solving } from '../commits/solving.ts';
import { GitExchange, type GitService, flush, pktLine } from './git-exchange.ts';
import { guardPush } from './push-gate.ts';

/** Number of bytes of a push that are counted against the quota at a time. */
const stepBytes = 4 * 1024 * 1024;

interface GitRoutesOptions {
  authenticate: Authenticate;
  addressOf: (request: IncomingMessage) => string;
  limits: Limits;
  access: ProjectAccess;
  projectServices: SharedServices;
  solving: Solving;
  audit: AuditEventSink;
  log: Logger;
}

const services: Record<string, GitService | undefined> = {
  'git-upload-pack': 'upload-pack',
  'git-receive-pack': 'receive-pack',
};

const doors: Record<GitService, Door> = { 'upload-pack': otherDoors.fetch, 'receive-pack': otherDoors.push };

/**
 * `GET /git/:project.git/info/refs` · `POST /git/:project.git/git-upload-pack` ·
 * `POST /git/:project.git/git-receive-pack`: the smart HTTP protocol of git. Errors are plain text, because git shows
 * plain text to its user.
 */
export async function addGitRoutes(app: FastifyInstance, options: GitRoutesOptions): Promise<void> {
  /** Queue of clones and pushes, because each of them occupies a few processes. */
  const { git: turns } = options.limits.turns;
  /** Callers that were admitted before the body of their request is read, by request. */
  const admitted = new WeakMap<object, Admitted>();
  await app.register(async (git) => {
    git.removeAllContentTypeParsers();
    for (const service of Object.keys(services))
      git.addContentTypeParser(`application/x-${service}-request`, (_request, payload, done) =>
        done(null, payload),
      );
    git.setErrorHandler((error, request, reply) => sendPlainError(error, request, reply));
    const closed = { config: { scope: null, reach: null, readsBody: true } };

    git.get<{ Params: { name: string }; Querystring: { service?: string } }>(
      '/git/:name/info/refs',
      closed,
      async (request, reply) => {
        const service = services[request.query.service ?? ''];
        if (service === undefined)
          throw ApiError.of('forbidden', { reason: 'This git client is too old: use git 1.6.6 or newer' });
        const caller = await admit(request, service);
        return turns.run(caller.userId, () => advertise({ request, reply, service, ...caller }));
      },
    );

    for (const [name, service] of Object.entries(services)) {
      if (service === undefined) continue;
      git.post<{ Params: { name: string } }>(
        `/git/:name/${name}`,
        {
          config: { ...closed.config, audit: service === 'receive-pack' ? 'push' : null },
          // Checks the caller before any of the body is read.
          onRequest: async (request) => {
            admitted.set(request, await admit(request, service));
          },
        },
        async (request, reply) => {
          const caller = admitted.get(request);
          if (caller === undefined) throw new Error('the request was not let in');
          return turns.run(caller.userId, () => serve({ request, reply, service, ...caller }));
        },
      );
    }
  });

  async function admit(request: FastifyRequest<{ Params: { name: string } }>, service: GitService) {
    const auditEvent = service === 'receive-pack' ? new AuditEvent('push', actorOf(request)) : undefined;
    request.auditEvent = auditEvent;
    const principal = await authenticateGitCaller(options.authenticate, request.headers.authorization, () =>
      options.addressOf(request.raw),
    );
    Object.assign(request, { principal, hasPrincipal: true });
    if (auditEvent !== undefined) auditEvent.actor.principal = principal;
    const projectId = request.params.name.replace(/\.git$/, '');
    const project = await admitGitCaller(options.access, { principal, projectId, service });
    if (auditEvent !== undefined) onProject(auditEvent, project);
    return { projectId: project.id, userId: principal.userId, principal };
  }

  async function open(exchange: Exchange, ...flags: string[]) {
    const { repositories } = options.projectServices;
    const gitDir = await repositories.prepareForGit(exchange.projectId);
    const protocol = protocolOf(exchange.request);
    const git = await GitExchange.start(
      { git: repositories.git, gitDir, service: exchange.service, protocol },
      ...flags,
    );
    const removeGuest = repositories.addGuest(exchange.projectId, () => git.kill());
    const onClose = () => {
      if (!git.output.readableEnded) git.kill();
    };
    exchange.reply.raw.once('close', onClose);
    // Kills git when the client disconnected while it waited for its turn.
    if (exchange.reply.raw.destroyed) git.kill();
    const leave = () => {
      removeGuest();
      exchange.reply.raw.off('close', onClose);
    };
    return { git, leave };
  }

  async function advertise(exchange: Exchange): Promise<FastifyReply> {
    const { reply, service, request } = exchange;
    const { git, leave } = await open(exchange, '--advertise-refs');
    git.endInput();
    const isVersion2 = service === 'upload-pack' && protocolOf(request) === 'version=2';
    const greeting = isVersion2 ? '' : pktLine(`# service=git-${service}\n`) + flush;
    void reply.type(`application/x-git-${service}-advertisement`).header('cache-control', 'no-cache');
    return send(reply.send(Readable.from(withGreeting(greeting, git.output))), git, leave);
  }

  async function serve(exchange: Exchange): Promise<FastifyReply> {
    const { request, reply, service, userId, principal, projectId } = exchange;
    const { auditEvent } = request;
    // Refuses a push without quota before anything is sent, so that git can show the reason.
    if (service === 'receive-pack') await options.projectServices.sizes.add(projectId, 1);
    const { git, leave } = await open(exchange);
    const body = request.body instanceof Readable ? request.body : Readable.from([]);
    const isPush = service === 'receive-pack';
    const feeding = git.feed(
      body,
      ...(isZipped(request) ? [createGunzip()] : []),
      ...(isPush ? [counted((bytes) => options.projectServices.sizes.add(projectId, bytes))] : []),
    );
    const { fromHooks, toHooks } = git;
    const guarding =
      auditEvent !== undefined
        ? guardPush({
            projectServices: options.projectServices.forUser(userId),
            log: options.log,
            audit: options.audit,
            projectId,
            principal,
            auditEvent,
            solving: options.solving,
            fromHooks,
            toHooks,
          })
        : Promise.resolve();
    void reply.type(`application/x-git-${service}-result`).header('cache-control', 'no-cache');
    const sent = await send(reply.send(git.output), git, leave);
    await Promise.all([feeding, guarding]);
    return sent;
  }

  async function send(reply: FastifyReply, git: GitExchange, leave: () => void): Promise<FastifyReply> {
    const code = await git.ended;
    leave();
    if (code !== 0) options.log.info({ code, complaint: git.complaint }, 'git ended early');
    return reply;
  }
}

interface Admitted {
  principal: Principal;
  userId: string;
  projectId: string;
}

interface Exchange extends Admitted {
  request: FastifyRequest;
  reply: FastifyReply;
  service: GitService;
}

async function* withGreeting(greeting: string, output: Readable): AsyncGenerator<Buffer> {
  if (greeting !== '') yield Buffer.from(greeting);
  for await (const chunk of output) if (Buffer.isBuffer(chunk)) yield chunk;
}

function protocolOf({ headers }: FastifyRequest): string | undefined {
  const protocol = headers['git-protocol'];
  return typeof protocol === 'string' && /^version=[0-2]$/.test(protocol) ? protocol : undefined;
}

const isZipped = ({ headers }: FastifyRequest): boolean =>
  ['gzip', 'x-gzip'].includes(headers['content-encoding'] ?? '');

/** Texts of errors whose API text would mislead users of git. */
const gitTexts: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Enter any user name, and an API token as the password.',
  unsupported_media_type: 'This address is for git clients.',
};

function sendPlainError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = asApiError(error, request);
  logFailure(error, known, request);
  if (known.code === 'unauthorized')
    void reply.header('www-authenticate', 'Basic realm="Phalanx", charset="UTF-8"');
  setRetryAfter(known, reply);
  const text = gitTexts[known.code] ?? known.message;
  return reply.code(known.status).type('text/plain; charset=utf-8').send(`${text}\n`);
}

/**
 * Creates a pass-through stream that reports its bytes to `count` in steps of `stepBytes`. An error of `count` ends the
 * stream.
 */
function counted(count: (bytes: number) => Promise<void>): Transform {
  let uncounted = 0;
  const countThen = (done: (error?: Error | null, chunk?: Buffer) => void, chunk?: Buffer): void => {
    const bytes = uncounted;
    uncounted = 0;
    count(bytes).then(
      () => done(null, chunk),
      (error: unknown) => done(error instanceof Error ? error : new Error('refused', { cause: error })),
    );
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      uncounted += chunk.length;
      if (uncounted < stepBytes) done(null, chunk);
      else countThen(done, chunk);
    },
    flush: (done) => countThen(done),
  });
}

/**
 * Returns the `Authorization` header with the bearer token. Git sends the token as a Basic password; other clients send
 * it as in the API.
 */
function bearerOf(authorization: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return authorization;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const password = credentials.slice(credentials.indexOf(':') + 1);
  // Uses the user name as the token when the password is empty, as in https://TOKEN@host/
  const token = password === '' ? credentials.slice(0, credentials.indexOf(':')) : password;
  return `Bearer ${token}`;
}

interface GitRequest {
  principal: Principal;
  projectId: string;
  service: GitService;
}

const authenticateGitCaller = (
  authenticate: Authenticate,
  authorization: string | undefined,
  address: () => string,
): Principal | Promise<Principal> => authenticate(bearerOf(authorization), address);

/** Finds the project if the caller may fetch from it or push to it. Otherwise throws an error of the error table. */
async function admitGitCaller(
  access: ProjectAccess,
  { principal, projectId, service }: GitRequest,
): Promise<SharedProject> {
  requireAllowed(principal, doors[service]);
  const project = await access.getProject(principal, projectId, readers);
  if (service === 'receive-pack' && !editors.includes(project.role))
    throw ApiError.of('forbidden', { reason: 'You may read this project, but not push to it' });
  return project;
}

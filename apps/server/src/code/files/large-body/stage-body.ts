import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { IncomingMessage } from 'node:http';
import { startProcess, type Confinement, type Policy } from '@phalanx/confinement';
import { Compile } from 'typebox/compile';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { programFiles } from '../../../kernel/processes/confined-process.ts';
import { runToEnd } from '../../../kernel/processes/run-to-end.ts';
import { BodyAnswer, type StagedText } from './answer.ts';
import { jsonContentType, maxJsonBytes, parseJson } from '../../../http/requests/bodies/request-bodies.ts';
import type { Limits } from '../../../kernel/limits/limits.ts';

const answerSchema = Compile(BodyAnswer);
const program = fileURLToPath(new URL('main.ts', import.meta.url));
const timeoutMs = 60_000;
/** Heap for a text with two bytes per character, its JSON source, and the buffer that it is read from. */
const maxHeapMb = 1500;

/** Data segment limit: the heap, plus the body and its text. */
const maxDataBytes = (maxHeapMb + 1500) * 1024 * 1024;

/** Maximum size of a written file. Larger than any endpoint accepts. */
const maxBodyBytes = 1024 * 1024 * 1024;

/** Maximum size of a reply: ten thousand paths of written files, and as many of deleted files. */
const maxAnswerBytes = 32 * 1024 * 1024;

interface StagedContent extends StagedText {
  readonly file: string;
}

/** Body whose contents are staged in files. The end of the request removes these files. */
export interface StagedBody {
  /** Fields of the body. An empty text replaces each `content`. */
  readonly fields: unknown;
  /** Contents in the order of the body. */
  readonly contents: readonly StagedContent[];
  discard(): Promise<void>;
}

export interface BodyStaging {
  readonly stagingFolder: string;
  readonly confinement: Confinement;
  /** Queue that limits concurrent reads. Reading a body takes up to a gigabyte of memory for a second. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Stages a large JSON body outside the server's memory and event loop. Throws `body_too_large`, `malformed_json` and
 * `request_timeout`.
 */
async function stageBody(
  body: Readable | AsyncIterable<Buffer>,
  { stagingFolder, confinement, inTurn }: BodyStaging,
  limitBytes: number,
): Promise<StagedBody> {
  const folder = path.join(stagingFolder, `body-${randomUUID()}`);
  const discard = () => rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder);
    const bodyFile = path.join(folder, 'body');
    await pipeline(body, limited(limitBytes), createWriteStream(bodyFile));
    const { fields, contents } = await inTurn(() => readBody(bodyFile, folder, confinement));
    const staged = contents.map((text, index) => ({ ...text, file: path.join(folder, `content-${index}`) }));
    return { fields, contents: staged, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Minimum upload rate. A slower sender would occupy a slot that other requests wait for. */
const minBytesPerSecond = 16 * 1024;
const graceSeconds = 20;

const limited = (limit: number) =>
  async function* limit_(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let length = 0;
    const since = performance.now();
    for await (const chunk of source) {
      length += chunk.length;
      const seconds = (performance.now() - since) / 1000;
      if (seconds > graceSeconds && length < seconds * minBytesPerSecond)
        throw ApiError.of('request_timeout', {});
      if (length > limit) throw ApiError.of('body_too_large', { limit });
      yield chunk;
    }
  };

/**
 * Node option that gives OpenSSL an empty configuration. OpenSSL fails when it may not read its own configuration, and
 * nothing here needs one.
 */
const withoutOpenSslFile = '--openssl-config=/dev/null';

const policyFor = (folder: string): Policy => ({
  ...programFiles(),
  writable: [folder],
  emptyNetwork: true,
  maxDataBytes,
  maxCpuSeconds: timeoutMs / 1000,
  // No text is larger than its body.
  maxFileBytes: maxBodyBytes,
});

async function readBody(
  bodyFile: string,
  folder: string,
  confinement: Confinement,
): Promise<{ fields: unknown; contents: readonly StagedText[] }> {
  const args = [`--max-old-space-size=${maxHeapMb}`, withoutOpenSslFile, program, bodyFile, folder];
  const start = confinement.wrap({ program: process.execPath, args }, policyFor(folder));
  const options = { environment: {}, folder: '/', streamCount: 3 };
  const reading = await startProcess(start, options);
  const output = await runToEnd(reading, { timeoutMs, maxBytes: maxAnswerBytes });
  if (output.exitCode !== 0)
    throw ApiError.of(
      'malformed_json',
      { reason: 'it has too many values: send one object with the fields of this endpoint' },
      { cause: new Error(output.stderr.slice(0, 2000)) },
    );
  const answer: unknown = JSON.parse(output.stdout.toString());
  if (!answerSchema.Check(answer)) throw new Error('the reader of large bodies gave no answer');
  if (answer.kind === 'malformed') throw ApiError.of('malformed_json', { reason: answer.reason });
  return answer;
}

/** Maximum size of a body that the server parses in its own process, which takes about ten milliseconds. */
const maxInProcessBytes = maxJsonBytes;

/** Staged bodies by request. */
const stagedBodies = new WeakMap<FastifyRequest, StagedBody>();

export const findStagedBody = (request: FastifyRequest): StagedBody | undefined => stagedBodies.get(request);

interface LargeBodies extends Omit<BodyStaging, 'inTurn'> {
  turns: Limits['turns'];
  /** Throws when the caller may not write to the project. */
  admit: (request: FastifyRequest) => Promise<void>;
}

/** Accepts bodies that are too large for the event loop to parse. */
export function acceptLargeBodies(app: FastifyInstance, { turns, admit, ...staging }: LargeBodies): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonContentType, async (request: FastifyRequest, payload: IncomingMessage) => {
    const { small, rest } = await readSmall(payload);
    if (rest === undefined) return parseJson(small);
    const limitBytes = request.routeOptions.bodyLimit ?? maxInProcessBytes;
    const { userId } = request.principal;
    await admit(request);
    const inTurn: BodyStaging['inTurn'] = (work) => turns.reading.run(userId, work);
    const staged = await stageBody(rest, { ...staging, inTurn }, limitBytes);
    stagedBodies.set(request, staged);
    return staged.fields;
  });
  app.addHook('onResponse', async (request) => {
    await stagedBodies.get(request)?.discard();
  });
  app.addHook('onRequestAbort', async (request) => {
    await stagedBodies.get(request)?.discard();
  });
}

/** Reads the whole body if it is small. Otherwise returns a stream of the whole body. */
async function readSmall(
  payload: IncomingMessage,
): Promise<{ small: Buffer; rest: AsyncIterable<Buffer> | undefined }> {
  const chunks: Buffer[] = [];
  let length = 0;
  const iterator: AsyncIterator<Buffer> = payload[Symbol.asyncIterator]();
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return { small: Buffer.concat(chunks), rest: undefined };
    chunks.push(next.value);
    length += next.value.length;
    if (length > maxInProcessBytes) return { small: Buffer.alloc(0), rest: continued(chunks, iterator) };
  }
}

async function* continued(
  chunks: readonly Buffer[],
  iterator: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  yield* chunks;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

import { jsonContentType, maxJsonBytes, parseJson } from '../../http/bodies/request-bodies.ts';
import type { Limits } from '../../limits/limits.ts';
import { type BodyStaging, stageBody, type StagedBody } from './stage-body.ts';

/** A body up to this size is read in the server's own process: in about ten milliseconds. */
const maxInProcessBytes = maxJsonBytes;

/** The bodies whose contents stand in files. */
const stagedBodies = new WeakMap<FastifyRequest, StagedBody>();

export const findStagedBody = (request: FastifyRequest): StagedBody | undefined => stagedBodies.get(request);

interface LargeBodies extends Omit<BodyStaging, 'inTurn'> {
  turns: Limits['turns'];
  /** Throws when the caller may not write there. */
  admit: (request: FastifyRequest) => Promise<void>;
}

/** For routes whose bodies are larger than what the event loop can parse in passing. */
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

/** The whole body when it is small, or else a stream of all of it. */
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

import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { portOf } from '../http/port-of.ts';

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks)));
  request.on('error', () => request.destroy());
}

const Input = Type.Object({ token: Type.String(), reply: Type.String(), asText: Type.Boolean() });

answerParent({
  /** Serves `reply` to callers with the token; `asText` encodes it for each reply. Returns the address. */
  listen: command(Input, async ({ token, reply, asText }) => {
    const tokenHash = hash('sha256', `Bearer ${token}`, 'hex');
    const bytes = Buffer.from(reply);
    const answer = (isKnown: boolean, response: ServerResponse): void => {
      response.writeHead(isKnown ? 200 : 401, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': bytes.length,
      });
      response.end(asText ? reply : bytes);
    };
    const server = createServer((request, response) => {
      const isKnown = hash('sha256', request.headers.authorization ?? '', 'hex') === tokenHash;
      readBody(request, () => answer(isKnown, response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${portOf(server.address())}`;
  }),
});

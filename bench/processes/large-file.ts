import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';

/** The content as JSON. */
let content = '';

/** Returns text with quotes and line breaks, which JSON must escape. */
function largeText(sizeBytes: number): string {
  const line = `${crypto.randomUUID()} said "hello" and went on to the next line of the file\n`;
  return line.repeat(Math.floor(sizeBytes / line.length));
}

/** Resolves with the size of the reply. Throws unless the reply is a success. */
async function readReply(response: Response): Promise<number> {
  const bytes = await response.arrayBuffer();
  if (response.ok) return bytes.byteLength;
  throw new Error(`the server answered ${Buffer.from(bytes).toString('utf8', 0, 1000)}`);
}

const Input = Type.Object({ url: Type.String(), token: Type.String(), path: Type.String() });

answerParent({
  prepare: command(Type.Object({ sizeBytes: Type.Integer() }), ({ sizeBytes }) => {
    content = JSON.stringify(largeText(sizeBytes));
  }),
  /** Writes the prepared content at `path` of a project and reads it back. Returns both durations in ms. */
  move: command(Input, async ({ url, token, path }) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = `{"path":${JSON.stringify(path)},"content":${content}}`;
    const beganAt = performance.now();
    await readReply(await fetch(url, { method: 'PUT', headers, body }));
    const writtenAt = performance.now();
    const from = `${url}?path=${encodeURIComponent(path)}`;
    const sizeBytes = await readReply(await fetch(from, { headers }));
    if (sizeBytes < content.length) throw new Error(`only ${sizeBytes} bytes of the file came back`);
    return { inMs: writtenAt - beganAt, outMs: performance.now() - writtenAt };
  }),
});

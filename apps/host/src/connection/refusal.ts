import type { IncomingMessage } from 'node:http';

const maxBodyBytes = 16 * 1024;

/** The `message` of the error body with which a server refused the connection, or an empty text. */
export async function readRefusal(response: IncomingMessage): Promise<string> {
  try {
    const body: unknown = JSON.parse(await readText(response));
    const isObject = typeof body === 'object' && body !== null;
    return isObject && 'message' in body && typeof body.message === 'string'
      ? body.message.slice(0, 500)
      : '';
  } catch {
    return '';
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) continue;
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBodyBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

import { once } from 'node:events';
import { createServer } from 'node:http';

import { type S3Engine, startS3 } from './s3-engine.ts';

/**
 * For all tests of a run: one S3 server, which is started when the first test asks for it at the address in
 * `TEST_S3`, since most runs need none. See `test-bucket.ts`.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const root = process.env['TEST_S3_ROOT'] ?? '';
  if (root === '') return undefined;
  let engine: Promise<S3Engine> | undefined;
  const door = createServer((_request, response) => {
    engine ??= startS3(root);
    engine.then(
      ({ endpoint, accessKey, secretKey }) =>
        response.end(JSON.stringify({ endpoint, accessKey, secretKey })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(door.listen(0, '127.0.0.1'), 'listening');
  const address = door.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.env['TEST_S3'] = `http://127.0.0.1:${port}`;
  return async () => {
    door.close();
    door.closeAllConnections();
    await (await engine?.catch(() => undefined))?.stop();
  };
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allRoutes } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { recordTranscript } from './play.ts';

it('the API answers what it answered when the golden transcript was recorded, and each of its routes is played', async () => {
  const { text, played, complaints } = await recordTranscript('sqlite', 1);
  expect(complaints).toEqual([]);
  // Requests of a transcript can't open a WebSocket.
  const routes = allRoutes.filter(({ responses }) => !(101 in responses));
  expect(routes.map(({ operationId }) => operationId).filter((name) => !played.has(name))).toEqual([]);
  expect(text).toBe(await readFile(path.join(import.meta.dirname, 'golden.txt'), 'utf8'));
});

import { connect, type Socket } from 'node:net';
import { projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestServer } from '../../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  // One request more of each user than may have a turn.
  server = await TestServer.start({ settings: { PHALANX_MAX_WAITING: '1' } });
});
afterAll(() => server.dispose());

const turnsOfUser = 4;

class Upload {
  heard = '';
  readonly #socket: Socket;

  /** Tells of a body of so many bytes and waits until it is asked for. */
  constructor(token: string, sizeBytes: number) {
    this.#socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' });
    this.#socket.on('error', () => undefined).on('data', (data) => (this.heard += String(data)));
    this.#socket.write(
      `POST ${projectRoutes.create.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${sizeBytes}\r\nExpect: 100-continue\r\n\r\n`,
    );
  }

  get status(): string {
    return this.heard.slice('HTTP/1.1 '.length, 'HTTP/1.1 100'.length);
  }

  end(): void {
    this.#socket.destroy();
  }
}

const statuses = (uploads: readonly Upload[]): string[] =>
  uploads.map(({ status }) => status).toSorted((one, other) => one.localeCompare(other));

it('large bodies of one user are read a few at a time, those of others meanwhile', async () => {
  const [ann, bob] = [await server.createCaller('ann'), await server.createCaller('bob')];
  const large = 500_000;
  const uploads = Array.from({ length: turnsOfUser + 2 }, () => new Upload(ann.token, large));
  const ofBob = new Upload(bob.token, large);
  const small = new Upload(ann.token, 1000);
  await expect.poll(() => [ofBob.status, small.status]).toEqual(['100', '100']);
  await expect.poll(() => statuses(uploads)).toEqual(['', ...Array<string>(turnsOfUser).fill('100'), '429']);
  expect(uploads.find(({ status }) => status === '429')?.heard).toContain('too_many_waiting');
  uploads.find(({ status }) => status === '100')?.end();
  await expect.poll(() => uploads.filter(({ status }) => status === '100')).toHaveLength(turnsOfUser + 1);
  for (const upload of [...uploads, ofBob, small]) upload.end();
});

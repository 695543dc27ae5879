import { NameResolver } from '@phalanx/egress';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MailServer } from './testing/mail-server.ts';
import { parseMail } from './mail/mail-settings.ts';
import { Mailer } from './mail/mailer.ts';

const mail = { subject: 'A run failed', text: 'It did.', id: 'one' };
const never = new AbortController().signal;
const password = 'right-word';

let folder: string;
let certificate: { key: string; cert: string };
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-mailer-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-nodes', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...names, ...files], { stdio: 'ignore' });
  certificate = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
});
afterAll(() => rmSync(folder, { recursive: true }));

function mailerOf(url: string, timeoutMs?: number): Mailer {
  const config = parseMail({
    PHALANX_SMTP_URL: url,
    PHALANX_MAIL_FROM: 'phalanx@example.com',
    PHALANX_MAIL_TO: 'example.com',
  });
  if (config === undefined) throw new Error('no mail server');
  return new Mailer(config, new NameResolver().of('mail server'), timeoutMs);
}

interface Offers {
  isSecure: boolean;
  offersTls: boolean;
}

/** Starts a mail server that records the passwords that it receives. */
async function startServer({ isSecure, offersTls }: Offers, passwords: unknown[]): Promise<MailServer> {
  return MailServer.start({
    ...certificate,
    secure: isSecure,
    authOptional: false,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    onAuth: (auth, _session, callback) => {
      passwords.push(auth.password);
      if (auth.password === password) callback(null, { user: auth.username ?? '' });
      else callback(new Error('wrong password'));
    },
  });
}

const kinds = [
  ['smtp', { isSecure: false, offersTls: true }],
  ['smtps', { isSecure: true, offersTls: true }],
] as const;

it.each([
  ['a server without STARTTLS', 'smtp', { isSecure: false, offersTls: false }, /STARTTLS/],
  ['a certificate after the greeting that nobody vouches for', ...kinds[0], /self-signed certificate/],
  ['one at the beginning', ...kinds[1], /self-signed certificate/],
] as const)('%s gets no e-mail, and no password', async (_, scheme, offers, problem) => {
  const passwords: unknown[] = [];
  const server = await startServer(offers, passwords);
  const mailer = mailerOf(`${scheme}://ada:${password}@localhost:${server.port}`);
  const sent = await mailer.send('bob@example.com', mail, never);
  expect(sent).toMatchObject({ result: 'refused', problem: expect.stringMatching(problem) });
  expect([server.received, passwords]).toEqual([[], []]);
  await server.close();
});

describe('with a certificate that is trusted', () => {
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  it.each(kinds)('an e-mail goes by %s, encrypted, with the password', async (scheme, offers) => {
    const server = await startServer(offers, []);
    const mailer = mailerOf(`${scheme}://ada:${password}@localhost:${server.port}`);
    expect(await mailer.send('bob@example.com', mail, never)).toMatchObject({ result: 'delivered' });
    expect(server.received).toMatchObject([{ to: ['bob@example.com'], isEncrypted: true, user: 'ada' }]);
    await server.close();
  });

  it.each(kinds)('a wrong password is told of by %s, and not shown', async (scheme, offers) => {
    const server = await startServer(offers, []);
    const mailer = mailerOf(`${scheme}://ada:some-other-word@localhost:${server.port}`);
    const sent = await mailer.send('bob@example.com', mail, never);
    expect(sent).toMatchObject({ result: 'refused', problem: expect.stringContaining('wrong password') });
    expect(JSON.stringify(sent)).not.toContain('some-other-word');
    await server.close();
  });
});

it('a service that is stopped does not wait for a slow mail server', async () => {
  const server = await MailServer.start();
  const asked = Promise.withResolvers<void>();
  server.habit = () => (asked.resolve(), new Promise(() => undefined));
  const closing = new AbortController();
  const mailer = mailerOf(`smtp://127.0.0.1:${server.port}?tls=none`);
  const sent = mailer.send('bob@example.com', mail, closing.signal);
  await asked.promise;
  closing.abort();
  expect(await sent).toMatchObject({ result: 'refused' });
  await server.close();
});

it('a mail server that never answers is given up', async () => {
  const silent = createServer((socket) => void socket.on('error', () => undefined));
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const mailer = mailerOf(`smtp://127.0.0.1:${port}?tls=none`, 300);
  const sent = await mailer.send('bob@example.com', mail, never);
  expect(sent).toMatchObject({ result: 'refused', problem: 'no answer within 0.3 s' });
  await new Promise((resolve) => silent.close(resolve));
});

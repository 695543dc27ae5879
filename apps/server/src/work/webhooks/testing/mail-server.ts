import { once } from 'node:events';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface ReceivedMail {
  /** Sender of the envelope. */
  from: string;
  to: string[];
  /** Headers with folded lines joined and names in lower case. */
  headers: ReadonlyMap<string, string>;
  text: string;
  /** Whole message as received. */
  raw: string;
  isEncrypted: boolean;
  user: string | undefined;
}

/** Checks a recipient. Returns undefined to accept it. */
type Habit = (address: string) => Promise<Error | undefined> | Error | undefined;

export const smtpError = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

/** Simulates the operator's mail server. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  /** Number of times that a recipient was named. */
  asked = 0;
  habit: Habit = () => undefined;
  readonly #server: SMTPServer;

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      ...options,
      onRcptTo: ({ address }, _session, callback) => {
        this.asked += 1;
        void Promise.resolve(this.habit(address)).then((problem) => callback(problem));
      },
      onData: (stream, session, callback) => {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          this.received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            ...readMail(Buffer.concat(pieces).toString()),
            isEncrypted: session.secure,
            user: session.user,
          });
          callback();
        });
      },
    });
    // A client that disconnects must not fail the test.
    this.#server.on('error', () => undefined);
  }

  static async start(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
    const server = new MailServer({ authOptional: true, disabledCommands: ['STARTTLS'], ...options });
    server.#server.listen(port, '127.0.0.1');
    await once(server.#server.server, 'listening');
    return server;
  }

  get port(): number {
    const address = this.#server.server.address();
    if (address === null || typeof address === 'string') throw new Error('the mail server is closed');
    return address.port;
  }

  async close(): Promise<void> {
    for (const connection of this.#server.connections) connection.close();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(resolve);
    await promise;
  }
}

function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'raw'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(': ');
      return [name.toLowerCase(), decodeWords(rest.join(': '))];
    }),
  );
  const body = raw.slice(end + 4);
  return { headers, raw, text: decodeBody(body, headers.get('content-transfer-encoding') ?? '7bit') };
}

const unquote = (text: string): Buffer =>
  Buffer.from(
    text.replaceAll(/=([\dA-F]{2})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16))),
    'latin1',
  );

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  return encoding === 'quoted-printable' ? unquote(body.replaceAll('=\r\n', '')).toString() : body;
}

/** Decodes encoded words (RFC 2047). */
const decodeWords = (text: string): string =>
  text
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      (kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64')
        : unquote(word.replaceAll('_', ' '))
      ).toString(),
    );

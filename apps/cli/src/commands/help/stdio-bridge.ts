import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly name?: unknown;
    readonly uri?: unknown;
    readonly _meta?: object;
    readonly clientInfo?: { readonly name?: unknown };
  };
  readonly result?: { readonly protocolVersion?: unknown };
}

interface Target {
  readonly serverUrl: string;
  readonly token: string;
  readonly write: (line: string) => void;
  /** For people: never to the standard output, which is the protocol's. */
  readonly warn: (text: string) => void;
}

const maxAtOnce = 16;
const versionKey = 'io.modelcontextprotocol/protocolVersion';

/**
 * Passes what a program says on the standard input on to the server's `/mcp`, and its answers back, a message a line.
 * It knows nothing of the tools, so that the server's release alone decides what there is.
 */
export async function bridge(input: Readable, target: Target): Promise<void> {
  const link = new McpLink(target);
  const underWay = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const passed = link.pass(line).finally(() => underWay.delete(passed));
    underWay.add(passed);
    if (underWay.size >= maxAtOnce) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

class McpLink {
  readonly #target: Target;
  /** That 2025's programs have agreed on; today's say it in each message. */
  #version: string | undefined;
  /** What the program calls itself, which 2025's say once. */
  #client = 'phalanx mcp';

  constructor(target: Target) {
    this.#target = target;
  }

  async pass(line: string): Promise<void> {
    const message = readMessage(line);
    const name = message?.params?.clientInfo?.name;
    if (typeof name === 'string' && /^[\x20-\x7E]{1,100}$/.test(name)) this.#client = name;
    try {
      for (const answer of await this.#post(line, message)) this.#answer(answer);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#target.warn(reason);
      if (message?.id === undefined) return;
      const answer = { jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: reason } };
      this.#target.write(JSON.stringify(answer));
    }
  }

  #answer(text: string): void {
    const answer = readMessage(text);
    if (answer === undefined) return;
    const version = answer.result?.protocolVersion;
    if (typeof version === 'string') this.#version = version;
    this.#target.write(JSON.stringify(answer));
  }

  async #post(line: string, message: Message | undefined): Promise<string[]> {
    const { serverUrl, token } = this.#target;
    const reply = await fetch(`${serverUrl}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'user-agent': this.#client,
        ...headersOf(message, this.#version),
      },
      body: line,
    }).catch(() => {
      throw new Error(`The server ${serverUrl} cannot be reached.`);
    });
    const text = await reply.text();
    const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const messages = isStream ? eventsOf(text) : text === '' ? [] : [text];
    const isProtocol = messages.every((one) => one.includes('"jsonrpc"'));
    if (isProtocol) return messages;
    throw new Error(refusalOf(text) ?? `The server ${serverUrl} answered with HTTP status ${reply.status}.`);
  }
}

/** What HTTP has to say again of a message. */
function headersOf(message: Message | undefined, agreed: string | undefined): Record<string, string> {
  const meta = new Map(Object.entries(message?.params?._meta ?? {}));
  const own: unknown = meta.get(versionKey);
  if (typeof own !== 'string')
    return agreed === undefined || message?.method === 'initialize' ? {} : { 'mcp-protocol-version': agreed };
  const name = message?.params?.name ?? message?.params?.uri;
  return {
    'mcp-protocol-version': own,
    ...(message?.method === undefined ? {} : { 'mcp-method': message.method }),
    ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
  };
}

/** As the protocol writes what a header can't hold. */
const headerText = (text: string): string =>
  /^[\x21-\x7E]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

const eventsOf = (text: string): string[] =>
  text
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trim())
        .join('\n'),
    )
    .filter((data) => data !== '');

function readMessage(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}

function refusalOf(text: string): string | undefined {
  const refusal = new Map(Object.entries(readMessage(text) ?? {}));
  const message: unknown = refusal.get('message');
  return typeof message === 'string' ? message : undefined;
}

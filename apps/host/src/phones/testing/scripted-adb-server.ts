import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Address } from '@phalanx/settings';
import { openDirectConnection } from '../../adb/direct-tcp.ts';
import { loadHostKey } from '../../adb/host-key.ts';
import { TrackedLink } from '../../adb/link.ts';

/** A row of its list. What is changed here is pushed by `tell`. */
export interface ScriptedRow {
  serial: string;
  /** State as adb says it: `device`, `offline` and others. */
  state: string;
  /** Undefined for a phone on the network. */
  usb?: string | undefined;
  /** The simulated phone that answers behind it. */
  phone: Address;
}

interface ListedRow extends ScriptedRow {
  readonly id: number;
}

/** An adb server that has the faults and the mDNS which the real one of a test machine can't be given. */
export interface ScriptedAdbServer {
  readonly address: Address;
  /** Requests that it got for host services, without those for its list. */
  readonly requests: string[];
  /** Answer to `adb mdns services`: name, type and address. Undefined: it has no mDNS, as release 29. */
  services: readonly (readonly [name: string, type: string, address: string])[] | undefined;
  /** Answers of a request by its beginning, such as `host:pair:`; others get what adb says when all is well. */
  readonly answers: Map<string, (request: string) => string>;
  plug(row: ScriptedRow): ScriptedRow;
  unplug(serial: string): void;
  tell(): void;
  close(): Promise<void>;
}

/** Starts an adb server that passes requests on to the phones behind it, by a connection of its own for each row. */
export async function startScriptedAdbServer(dataDir: string): Promise<ScriptedAdbServer> {
  const key = await loadHostKey(dataDir);
  const rows = new Map<number, ListedRow>();
  const sockets = new Set<Socket>();
  const followers = new Set<Socket>();
  const waiting = new Map<number, Set<Socket>>();
  const closing = new AbortController();
  let lastId = 0;

  const list = (): string =>
    [...rows.values()]
      .map(({ serial, state, usb, id }) => {
        const place = usb === undefined ? '' : ` usb:${usb}`;
        return `${serial} ${state}${place} product:x model:x device:x transport_id:${id}\n`;
      })
      .join('');
  const tell = (): void => {
    for (const follower of followers) follower.write(lengthed(list()));
    for (const [id, those] of waiting)
      if (rows.get(id)?.state !== 'device') for (const socket of those) socket.end('OKAY');
  };

  const passOn = async (socket: Socket, row: ListedRow, service: string): Promise<void> => {
    const link = new TrackedLink('direct-tcp', { name: row.serial, place: row.serial }, () => {});
    const status = await openDirectConnection(link, { address: row.phone, key }, closing.signal);
    if (status.state !== 'connected') return fail(socket, 'device offline');
    const { adb } = status.connection;
    socket.once('close', () => status.connection.close());
    if (service === 'host:features') {
      socket.write(`OKAY${lengthed(adb.banner.features.join(','))}`);
      return;
    }
    const stream = await adb.createSocket(service);
    socket.write('OKAY');
    const writer = stream.writable.getWriter();
    socket.on('data', (chunk: Buffer) => void writer.write(chunk).catch(() => socket.destroy()));
    for await (const chunk of stream.readable) socket.write(chunk);
    socket.end();
  };

  const answerHost = (socket: Socket, request: string): void => {
    const wait = /^host-transport-id:(\d+):wait-for-any-disconnect$/.exec(request);
    if (wait !== null) {
      const id = Number(wait[1]);
      waiting.set(id, (waiting.get(id) ?? new Set()).add(socket));
      socket.write('OKAY');
      return;
    }
    if (request === 'host:version') return void socket.end(`OKAY${lengthed('0029')}`);
    if (request === 'host:devices-l') return void socket.end(`OKAY${lengthed(list())}`);
    if (request === 'host:track-devices-l') {
      followers.add(socket);
      socket.write(`OKAY${lengthed(list())}`);
      return;
    }
    server.requests.push(request);
    const script = [...server.answers].find(([beginning]) => request.startsWith(beginning))?.[1];
    if (script !== undefined) return void socket.end(`OKAY${lengthed(script(request))}`);
    if (request.startsWith('host:mdns:')) {
      if (server.services === undefined) return fail(socket, 'unknown host service');
      const told = server.services.map((service) => service.join('\t')).join('\n');
      return void socket.end(
        `OKAY${lengthed(request === 'host:mdns:check' ? 'mdns daemon version [8970003]' : told)}`,
      );
    }
    socket.end(`OKAY${lengthed('')}`);
  };

  const take = async (socket: Socket): Promise<void> => {
    const chunks = new Requests(socket);
    const request = await chunks.next();
    const transport = /^host:transport-id:(\d+)$/.exec(request)?.[1];
    if (transport === undefined) return answerHost(socket, request);
    const row = rows.get(Number(transport));
    if (row?.state !== 'device') return fail(socket, 'device offline');
    socket.write('OKAY');
    await passOn(socket, row, await chunks.next());
  };

  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      sockets.delete(socket);
      followers.delete(socket);
      for (const those of waiting.values()) those.delete(socket);
    });
    take(socket).catch(() => socket.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const bound = listener.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  const server: ScriptedAdbServer = {
    address: { host: '127.0.0.1', port },
    requests: [],
    services: undefined,
    answers: new Map(),
    plug(row) {
      lastId += 1;
      const listed = { ...row, id: lastId };
      rows.set(lastId, listed);
      tell();
      return listed;
    },
    unplug(serial) {
      for (const [id, row] of rows) if (row.serial === serial) rows.delete(id);
      tell();
    },
    tell,
    async close() {
      closing.abort();
      listener.close();
      for (const socket of sockets) socket.destroy();
      await once(listener, 'close');
    },
  };
  return server;
}

const lengthed = (text: string): string => Buffer.byteLength(text).toString(16).padStart(4, '0') + text;

function fail(socket: Socket, reason: string): void {
  socket.end(`FAIL${lengthed(reason)}`);
}

/** The requests of one socket, one after another; what comes after them is the phone's. */
class Requests {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async next(): Promise<string> {
    const length = Number.parseInt((await this.#take(4)).toString(), 16);
    return (await this.#take(length)).toString();
  }

  async #take(bytes: number): Promise<Buffer> {
    for (;;) {
      const chunk: Buffer | null = this.#socket.read(bytes);
      if (chunk !== null) return chunk;
      if (this.#socket.readableEnded) throw new Error('The client closed the connection');
      await once(this.#socket, 'readable');
    }
  }
}

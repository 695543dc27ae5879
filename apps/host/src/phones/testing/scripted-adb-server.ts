import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Address } from '@phalanx/settings';
import { openDirectConnection } from '../../adb/direct-tcp.ts';
import { loadHostKey } from '../../adb/host-key.ts';
import { TrackedLink } from '../../adb/link.ts';

/** Row of the server's device list. `tell` publishes changes to it. */
export interface ScriptedRow {
  serial: string;
  /** State in adb's words: `device`, `offline` and others. */
  state: string;
  /** USB port of the phone; undefined for a phone on the network. */
  usb?: string | undefined;
  /** Address of the simulated phone behind the row. */
  phone: Address;
}

interface ListedRow extends ScriptedRow {
  readonly id: number;
}

/** Fake adb server with faults and mDNS services that the real one on a test machine can't produce. */
export interface ScriptedAdbServer {
  readonly address: Address;
  /** Requests for host services that it received, without those for its list. */
  readonly requests: string[];
  /** Answer to `adb mdns services`: name, type and address. Undefined: the server has no mDNS, as in release 29. */
  services: readonly (readonly [name: string, type: string, address: string])[] | undefined;
  /** Answers by prefix of the request, such as `host:pair:`. Other requests get adb's answer of success. */
  readonly answers: Map<string, (request: string) => string>;
  plug(row: ScriptedRow): ScriptedRow;
  unplug(serial: string): void;
  tell(): void;
  close(): Promise<void>;
}

/** Starts an adb server that forwards requests to the phones behind it, over a separate connection per row. */
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

/** Reads the requests of one socket in order. Data after them belongs to the phone. */
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

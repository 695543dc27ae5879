import type { HostQuestionOf, Pairing } from '@phalanx/protocol';
import { type Address, formatAddress, errorText } from '@phalanx/settings';
import { AdbServerClient } from '@yume-chan/adb';
import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import { pause, withTimeLimit } from '../time/time-limit.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { connectorTo } from './adb-server.ts';
import { parseDeviceList } from './device-list.ts';
import {
  connectService,
  connectTo,
  instanceName,
  listWirelessServices,
  pairingService,
  serialIn,
  type WirelessService,
} from './wireless.ts';

interface PairingsOptions {
  /** Address of the ADB server; undefined when this host uses none. */
  readonly adbServer: Address | undefined;
  readonly log: Logger;
  /** Pause between two polls for the phone, in ms. Default 1000. */
  readonly lookMs?: number | undefined;
  /** Time for a phone to scan the code, in ms. Default three minutes. */
  readonly scanMs?: number | undefined;
  /** Time for a paired phone to connect, in ms. Default 30 s. */
  readonly connectMs?: number | undefined;
}

type Told = Omit<Pairing, 'id'>;

const keptMs = 10 * minuteMs;
const maxAtOnce = 10;
/** Timeout in ms. The phone does not ask its user, and adb gives it ten seconds to answer. */
const pairTimeoutMs = 20_000;
/** Time in ms for adb to connect a paired phone on its own, which releases with mDNS do by default. */
const byItselfMs = 3000;

/** Pairs phones that scan a code, through an ADB server. Never logs the content of the code. */
export class Pairings {
  readonly #options: PairingsOptions;
  readonly #told = new Map<string, Told>();
  readonly #closing = new AbortController();

  constructor(options: PairingsOptions) {
    this.#options = options;
  }

  /** Starts a pairing, or looks one up, and sends its state to the server. */
  answer(
    { type, request_id, name, password }: HostQuestionOf<'pairing'>,
    connection: Pick<ServerConnection, 'send' | 'sendFrame'>,
  ): void {
    try {
      const pairing = password === null ? this.find(name) : this.start(name, password);
      connection.sendFrame({ type, request_id }, Buffer.from(JSON.stringify(pairing ?? null)));
    } catch (error) {
      const message = errorText(error);
      connection.send({ type: 'request_failed', request_id, message });
    }
  }

  find(name: string): Pairing | undefined {
    const told = this.#told.get(name);
    return told && { id: name, ...told };
  }

  /**
   * Starts a pairing. Throws an error with a message for people when there is no ADB server to pair with, or too many
   * pairings are in progress.
   */
  start(name: string, password: string): Pairing {
    const { adbServer, log } = this.#options;
    if (adbServer === undefined)
      throw new Error(
        'it uses no ADB server (PHALANX_ADB_SERVER is off), which is what phones are paired with',
      );
    const open = [...this.#told.values()].filter(({ state }) => state !== 'connected' && state !== 'failed');
    if (open.length >= maxAtOnce) throw new Error(`${maxAtOnce} pairings with it are under way`);
    const client = new AdbServerClient(connectorTo(adbServer));
    const tell = (told: Told): void => {
      if (!this.#told.has(name)) return;
      this.#told.set(name, told);
      log.info({ pairing: name, state: told.state, reason: told.reason, phone: told.serial }, 'pairing');
    };
    const first: Told = {
      state: 'waiting',
      reason: 'Waiting for a phone that scans the code.',
      serial: null,
    };
    this.#told.set(name, first);
    void this.#pair(client, { name, password, tell }).catch((error: unknown) => {
      const reason = errorText(error);
      tell({ state: 'failed', reason, serial: this.#told.get(name)?.serial ?? null });
    });
    setTimeout(() => this.#told.delete(name), keptMs).unref();
    return { id: name, ...first };
  }

  close(): void {
    this.#closing.abort(new Error('The host is stopping'));
  }

  async #pair(
    client: AdbServerClient,
    { name, password, tell }: { name: string; password: string; tell: (told: Told) => void },
  ): Promise<void> {
    const { adbServer, scanMs = 180_000, connectMs = 30_000 } = this.#options;
    await requireMdns(client, adbServer);
    const waiting = await this.#look(scanMs, async () =>
      (await listWirelessServices(client)).find((one) => one.type === pairingService && one.name === name),
    );
    if (waiting === undefined)
      throw new Error(
        'No phone has scanned the code in time, or adb does not see it. Phone and host have to be in the same network, without isolation of its clients.',
      );
    tell({ state: 'pairing', reason: `Pairing with the phone at ${waiting.address}.`, serial: null });
    const guid = await pairWith(client, waiting, password);
    const serial = serialIn({ name: guid, type: connectService }) ?? null;
    tell({ state: 'connecting', reason: 'The phone is paired. Connecting to it.', serial });
    const isConnected = await this.#connect(client, guid, connectMs);
    if (!isConnected)
      throw new Error(
        'The phone is paired, but adb does not see it. Leave wireless debugging on; the host connects it when "adb connect" is told its address and port.',
      );
    tell({
      state: 'connected',
      reason: 'The phone is connected. It is in the list of phones in a moment.',
      serial,
    });
  }

  /** Connects a paired phone. Lets adb do it first, because a phone must not appear in two rows. */
  async #connect(client: AdbServerClient, guid: string, connectMs: number): Promise<boolean> {
    if (await this.#look(byItselfMs, () => isListed(client, guid))) return true;
    const connected = await this.#look(connectMs, async () => {
      const services = await listWirelessServices(client);
      const found = services.find(({ name, type }) => name === guid && type === connectService);
      if (found === undefined) return undefined;
      await connectTo(client, found.address);
      return true;
    });
    return connected === true;
  }

  /** Polls until `find` returns a result or the time is over. */
  async #look<Found>(timeMs: number, find: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const { lookMs = 1000 } = this.#options;
    const { signal } = this.#closing;
    const until = performance.now() + timeMs;
    while (performance.now() < until) {
      signal.throwIfAborted();
      const found = await find();
      if (found !== undefined) return found;
      await pause(lookMs, signal);
    }
    return undefined;
  }
}

async function requireMdns(client: AdbServerClient, adbServer: Address | undefined): Promise<void> {
  const name = adbServer === undefined ? '' : formatAddress(adbServer);
  const answer = await ask(client, 'host:mdns:check').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error)
      throw new Error(`No ADB server answers at ${name}. Start it with "adb start-server".`, {
        cause: error,
      });
    throw new Error(
      `The ADB server at ${name} has no mDNS, by which phones are found: it is older than release 31. Install Google's platform tools, or pair by "adb pair".`,
      { cause: error },
    );
  });
  if (answer.startsWith('ERROR'))
    throw new Error(`The mDNS of the ADB server at ${name} does not work: ${answer.trim()}`);
}

/** Pairs with a phone. Resolves with the name under which the phone can be connected. */
async function pairWith(
  client: AdbServerClient,
  { address }: WirelessService,
  password: string,
): Promise<string> {
  const onTimeout = (): Error => new Error('The phone did not answer in time. Scan a new code.');
  const answer = await withTimeLimit({ timeoutMs: pairTimeoutMs, onTimeout }, () =>
    ask(client, `host:pair:${password}:${address}`),
  );
  const guid = /^Successfully paired to .*\[guid=([^\]]+)\]/.exec(answer)?.[1];
  if (guid === undefined)
    throw new Error(`adb did not pair with the phone: ${answer.trim()}. Scan a new code.`);
  return guid;
}

async function isListed(client: AdbServerClient, guid: string): Promise<true | undefined> {
  const rows = parseDeviceList(await ask(client, 'host:devices-l'));
  return rows.some(({ serial, state }) => (instanceName(serial) ?? serial) === guid && state === 'device')
    ? true
    : undefined;
}

async function ask(client: AdbServerClient, request: string): Promise<string> {
  const stream = await client.createConnection(request);
  try {
    return await stream.readString();
  } finally {
    await stream.dispose();
  }
}

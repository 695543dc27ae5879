import type { Address } from '@phalanx/settings';
import type { Logger } from 'pino';
import { watchAdbServer } from '../../adb/adb-server.ts';
import { watchAddress } from '../../adb/direct-tcp.ts';
import { loadHostKey } from '../../adb/host-key.ts';
import type { AdbConnection, Link, LinkSource } from '../../adb/link.ts';
import { withTimeLimit } from '../../time/time-limit.ts';

const timeoutMs = 20_000;

export interface WantedPhone {
  /** As an ADB server names it; undefined for a phone at an address. */
  readonly serial: string | undefined;
  /** Of the ADB server, or of the phone. */
  readonly address: Address;
  /** Holds the ADB key. */
  readonly dataDir: string;
  readonly log: Logger;
}

export interface OpenedPhone {
  readonly connection: AdbConnection;
  close(): Promise<void>;
}

/** Connects to one phone alone; nothing is started on it. */
export async function openPhone(wanted: WantedPhone): Promise<OpenedPhone> {
  const { serial, address, dataDir, log } = wanted;
  const found = Promise.withResolvers<AdbConnection>();
  let trouble = 'It is not in the list of the ADB server.';
  const onLink = ({ name, status }: Link): void => {
    if (serial !== undefined && name !== serial) return;
    if (status.state === 'connected') found.resolve(status.connection);
    else trouble = status.reason;
  };
  const source: LinkSource =
    serial === undefined
      ? watchAddress({ address, key: await loadHostKey(dataDir), onLink })
      : watchAdbServer({ address, log, onLink });
  const onTimeout = (): Error =>
    new Error(`The phone could not be reached in ${timeoutMs / 1000} s. ${trouble}`);
  try {
    const connection = await withTimeLimit({ timeoutMs, onTimeout }, () => found.promise);
    return { connection, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

import type { Db, Transaction } from '../db/database.ts';
import type { Row } from '../db/tables.ts';
import type { StoredRun } from './stored-run.ts';

/** A run with the connection that it is to be sent on, or whose host has it. */
export type PlacedRun = Row<'run'>;

/** With the serial number of its phone. */
export interface RunToTell extends PlacedRun {
  serial: string;
}

/** The runs that have not ended, whichever server has their hosts. PostgreSQL's. */
export interface PlacedRuns {
  listOfHost(host: { userId: string; hostId: string }): Promise<PlacedRun[]>;
  listOnDevices(deviceIds: readonly string[]): Promise<PlacedRun[]>;
  /** Those that have ended too. */
  listByIds(runIds: readonly string[]): Promise<StoredRun[]>;
  /** What is to be said to the hosts of these connections: runs that have not begun, and stops. */
  listToTell(epochs: readonly number[]): Promise<RunToTell[]>;
  /** Whose host has been away since then, or that nobody has heard of since then. */
  listOverdue(since: number): Promise<PlacedRun[]>;
  /** The host of this connection has these runs now. */
  adopt(runIds: readonly string[], epoch: number): Promise<void>;
  /** Returns the newest connections of the hosts that have to be told. */
  requestStop(runIds: readonly string[]): Promise<number[]>;
  /** Stops those that have not begun, and returns the others as they are, with the connections of the hosts to tell. */
  callOff(runIds: readonly string[]): Promise<{ begun: StoredRun[]; epochs: number[] }>;
  countOfUser(userId: string, within?: Db | Transaction): Promise<number>;
  /** Those of the phones that have so many runs, or more. */
  listFullDevices(
    deviceIds: readonly string[],
    most: number,
    within: Db | Transaction,
  ): Promise<ReadonlySet<string>>;
}

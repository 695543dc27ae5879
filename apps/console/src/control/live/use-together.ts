import { type Device, type PhoneInput, wholeScreen } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { call } from '../../api/call.ts';
import { isReady, distinctName, devicesQuery } from '../../fleet/devices/device.tsx';
import { messageOf } from '../../parts/states.tsx';
import { touchPhone } from './use-touch.ts';

const leaseMs = 60_000;
const extendEveryMs = 20_000;
/** Idle time after which the leases of the phones are released, in ms. */
const idleMs = 5 * 60_000;

/** State of a phone; `out` means that its screen differs from the first phone's, so it gets no input. */
type MemberState = 'waiting' | 'working' | 'done' | 'failed' | 'out';

/** Phone in a group that is controlled together. */
export interface Member {
  readonly device: Device;
  readonly name: string;
  readonly state: MemberState;
  /** Reason why the phone is left out, or why its last input failed. */
  readonly reason: string | undefined;
}

interface Look {
  readonly size: string;
  readonly app: string;
}

const isIn = ({ state }: Member): boolean => state !== 'out' && state !== 'failed';

async function lookAt({ device_id: id }: Device): Promise<Look> {
  const { screen } = await call('GET /api/v2/devices/:id/screen', { params: { id }, query: { width: 16 } });
  const { width, height, tree } = wholeScreen(screen);
  return { size: `${width} × ${height}`, app: tree.packageName };
}

/** Returns why a phone can't take the same input as the first phone; undefined if it can. */
function difference(first: Look, { size, app }: Look): string | undefined {
  if (size !== first.size) return `Its screen has ${size} pixels; the first phone’s has ${first.size}.`;
  return app === first.app ? undefined : `It shows the app ${app}; the first phone shows ${first.app}.`;
}

/** Returns why a phone can't be controlled at all; undefined if it can. */
function refusal(device: Device): string | undefined {
  if (device.role === 'view') return `${device.owner.name} shared this phone with you as view-only.`;
  return isReady(device) ? undefined : device.reason;
}

async function memberOf(device: Device, all: readonly Device[], first: Promise<Look>): Promise<Member> {
  const name = distinctName(device, all);
  const reason =
    refusal(device) ??
    (await Promise.all([first, lookAt(device)]).then(
      ([one, other]) => difference(one, other),
      (error: unknown) => messageOf(error),
    ));
  return { device, name, state: reason === undefined ? 'waiting' : 'out', reason };
}

/** Leases of several phones by device ID. Takes all of them or none. */
class Leases {
  #ids: ReadonlyMap<string, string> = new Map();

  /** Takes the leases. Rejects with one line for each phone whose lease was refused. */
  async take(members: readonly Member[]): Promise<void> {
    const taken = new Map<string, string>();
    const failures: string[] = [];
    await Promise.all(
      members.map(async ({ device: { device_id: id }, name }) => {
        const input = { params: { id }, body: { duration_ms: leaseMs } };
        await call('POST /api/v2/devices/:id/lease', input).then(
          ({ lease }) => taken.set(id, lease.lease_id),
          (error: unknown) => failures.push(`${name}: ${messageOf(error)}`),
        );
      }),
    );
    this.#ids = taken;
    if (failures.length === 0) return;
    await this.end();
    throw new Error(failures.join('\n'));
  }

  async extend(id: string): Promise<void> {
    const body = { duration_ms: leaseMs, lease_id: this.of(id) };
    await call('POST /api/v2/devices/:id/lease', { params: { id }, body });
  }

  async end(): Promise<void> {
    const ids = this.#ids;
    this.#ids = new Map();
    const ends = [...ids].map(([id, lease_id]) =>
      call('DELETE /api/v2/devices/:id/lease', { params: { id }, query: { lease_id } }),
    );
    await Promise.allSettled(ends);
  }

  of(id: string): string {
    return this.#ids.get(id) ?? '';
  }
}

/** Controls several phones together: repeats the input of the first phone on all of them. */
export function useTogether(devices: readonly Device[]) {
  const queries = useQueryClient();
  const [members, setMembers] = useState<readonly Member[]>([]);
  const [isHeld, setHeld] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const leases = useRef(new Leases());
  const touchedAt = useRef(0);
  const change = (id: string, state: MemberState, reason?: string): void =>
    setMembers((known) =>
      known.map((one) => (one.device.device_id === id ? { ...one, state, reason } : one)),
    );
  const end = async (): Promise<void> => {
    setHeld(false);
    await leases.current.end();
    await queries.invalidateQueries({ queryKey: devicesQuery.queryKey });
  };
  const begin = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const [leader] = devices;
      if (leader === undefined) return;
      const first = lookAt(leader);
      // Prevents an unhandled rejection; each comparison with the first screen reports the failure.
      first.catch(() => {});
      const found = await Promise.all(devices.map((device) => memberOf(device, devices, first)));
      setMembers(found);
      await leases.current.take(found.filter(isIn));
      touchedAt.current = Date.now();
      setHeld(found.some(isIn));
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
      await queries.invalidateQueries({ queryKey: devicesQuery.queryKey });
    }
  };
  /**
   * Sends an input to all phones. Resolves when every phone has replied. A phone that fails gets no further input,
   * because its screen differs.
   */
  const touch = async (input: PhoneInput): Promise<void> => {
    touchedAt.current = Date.now();
    await Promise.all(
      members.filter(isIn).map(async ({ device: { device_id: id } }) => {
        change(id, 'working');
        await touchPhone(id, input, { leaseId: leases.current.of(id) }).then(
          () => change(id, 'done'),
          (error: unknown) => change(id, 'failed', messageOf(error)),
        );
      }),
    );
  };
  const extend = useRef(async () => {});
  useEffect(() => {
    extend.current = async () => {
      if (Date.now() - touchedAt.current > idleMs) return end();
      await Promise.all(
        members.filter(isIn).map(async ({ device: { device_id: id } }) => {
          await leases.current.extend(id).catch((error: unknown) => change(id, 'failed', messageOf(error)));
        }),
      );
    };
  });
  useEffect(() => {
    if (!isHeld) return undefined;
    const timer = window.setInterval(() => void extend.current(), extendEveryMs);
    return () => window.clearInterval(timer);
  }, [isHeld]);
  useEffect(() => {
    const held = leases.current;
    return () => void held.end();
  }, []);
  return {
    members,
    isHeld,
    isBusy,
    problem,
    begin,
    end,
    touch,
    /** Includes a failed phone again. */
    include: (id: string) => change(id, 'waiting'),
    active: members.filter(isIn),
  };
}

import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import { ServiceError } from '@phalanx/client/service-errors';
import {
  deviceRoutes,
  type Device,
  projectRoutes,
  type Project,
  accessRoutes,
  type User,
} from '@phalanx/protocol';
import { rememberName } from '../output/terminal.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';

/**
 * Returns the ID of the phone with this ID, serial number or name. Returns any other text unchanged, so that the
 * server refuses it. Finds a phone that was not accepted only by its ID, because its owner chooses its name. Throws a
 * usage error if only such a phone matches, or if several phones have this serial number, or this name and none has
 * this serial number.
 */
export function deviceIdOf(devices: readonly Device[], text: string): string {
  const byId = devices.find((device) => device.device_id === text);
  if (byId !== undefined) return byId.device_id;
  const numbered = devices.filter((device) => device.serial === text);
  const named = devices.filter(({ name }) => name !== '' && name.toLowerCase() === text.toLowerCase());
  for (const fitting of [numbered, named].map((some) => some.filter(({ accepted }) => accepted))) {
    const [first, ...others] = fitting;
    if (others.length > 0) throw severalHave(text, fitting);
    if (first !== undefined) return first.device_id;
  }
  const [waiting] = [...numbered, ...named];
  if (waiting === undefined) return text;
  throw usageError(
    `The phone "${text}" is shared with you by ${waiting.owner.name}, but you have not accepted it: accept it with "phalanx shares accept", or pass its ID, ${waiting.device_id}.`,
  );
}

/** Error for an ambiguous name. Phones without a unique serial number are named by USB ports, which each host has. */
const severalHave = (text: string, devices: readonly Device[]): CommandError =>
  usageError(
    `Several phones are called "${text}": pass one of these IDs: ${devices.map(({ device_id: id, host }) => `${id} (host ${host?.name ?? 'unknown'})`).join(', ')}.`,
  );

/** Lists the phones, or only those that match the selector. */
export async function listDevices(api: ApiClient, selector?: string): Promise<Device[]> {
  const selecting = selector === undefined ? {} : { selector };
  const devices = await readAll(
    (query) => api.call(deviceRoutes.list, { query: { ...query, ...selecting } }),
    (page) => page.devices,
  );
  for (const { device_id: id, serial } of devices) rememberName(id, serial);
  return devices;
}

/** Returns the serial number of a device, or its ID if the device is unknown. */
export const serialOf = (devices: readonly Device[], deviceId: string): string =>
  devices.find((device) => device.device_id === deviceId)?.serial ?? deviceId;

/** Whether the device's host is connected to it, so that runs can be started and stopped on it. */
export const isOnline = ({ state }: Device): boolean => state === 'ready' || state === 'busy';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuid.test(text);

export const listProjects = (api: ApiClient): Promise<Project[]> =>
  readAll(
    (query) => api.call(projectRoutes.list, { query }),
    (page) => page.projects,
  );

/**
 * Returns the ID of the project with this name. Returns an ID unchanged: that of a project, or the launch ID of direct
 * code. The server refuses unknown IDs.
 */
export async function getAutomationId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const all = (await listProjects(api)).filter((project) => project.name === text);
  // A shared project counts only once it is accepted, because its owner chooses its name.
  const named = all.filter(({ accepted }) => accepted);
  const [only] = named;
  const [waiting] = all;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      waiting === undefined
        ? `Unknown project "${text}": "phalanx project list" lists yours.`
        : `The project "${text}" is shared with you, but you have not accepted it: accept it with "phalanx shares accept", or pass its ID, ${waiting.id}.`,
    );
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several projects have the name "${text}": pass one of these IDs: ${named.map(({ id }) => id).join(', ')}.`,
  );
}

export const listUsers = (api: ApiClient): Promise<User[]> =>
  readAll(
    (query) => api.call(accessRoutes.listUsers, { query }),
    (page) => page.users,
  );

/** Returns the ID of a user. `text` is an ID or, for administrators, a name. */
export async function getUserId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  const users = await listUsers(api).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.status !== 403) throw error;
    throw usageError(`Only administrators can find users by name: pass the ID of the user "${text}".`);
  });
  const named = users.filter(({ name }) => name === text);
  const [only] = named;
  if (only === undefined)
    throw new CommandError(exitCodes.refused, `Unknown user "${text}": "phalanx user list" lists the users.`);
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several users have the name "${text}": pass one of these IDs: ${named.map(({ id }) => id).join(', ')}.`,
  );
}

import {
  deviceRoutes,
  type Device,
  projectRoutes,
  type Project,
  accessRoutes,
  type User,
} from '@phalanx/protocol';
import { type ApiClient, readAll, ApiRefusal } from '../api-client.ts';
import { rememberName } from '../output/terminal.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';

/**
 * Finds a phone by its serial number or name, which people know, or by its ID, which programs know. Any other
 * text is returned for the server to refuse. A phone that was not accepted is found only by its ID, because its
 * owner chooses its name. Throws a usage error when only such a phone fits, and when several phones have that
 * serial number, or that name and none that number.
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
    `The phone "${text}" is shared with you by ${waiting.owner.name}, and you have not accepted it: "phalanx shares" shows it. Without that, give its ID, ${waiting.device_id}.`,
  );
}

/** Phones without a number of their own are called by their places, which each host has. */
const severalHave = (text: string, devices: readonly Device[]): CommandError =>
  usageError(
    `Several phones are called "${text}": give an ID of ${devices.map(({ device_id: id, host }) => `${id} (host ${host?.name ?? 'unknown'})`).join(', ')}.`,
  );

/** Those that fit the selector, when one is given. */
export async function listDevices(api: ApiClient, selector?: string): Promise<Device[]> {
  const selecting = selector === undefined ? {} : { selector };
  const devices = await readAll(
    (query) => api.call(deviceRoutes.list, { query: { ...query, ...selecting } }),
    (page) => page.devices,
  );
  for (const { device_id: id, serial } of devices) rememberName(id, serial);
  return devices;
}

/** A serial number, or the ID when the device is not known. */
export const serialOf = (devices: readonly Device[], deviceId: string): string =>
  devices.find((device) => device.device_id === deviceId)?.serial ?? deviceId;

/** Whether its host holds it: it can be asked to start and to stop. */
export const isOnline = ({ state }: Device): boolean => state === 'ready' || state === 'busy';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => uuid.test(text);

export const listProjects = (api: ApiClient): Promise<Project[]> =>
  readAll(
    (query) => api.call(projectRoutes.list, { query }),
    (page) => page.projects,
  );

/**
 * The ID of the project with this name. An ID stays as it is: that of a project, or the launch ID of direct
 * code; the server refuses unknown ones.
 */
export async function getAutomationId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const all = (await listProjects(api)).filter((project) => project.name === text);
  // A shared project counts once it is accepted, because its owner chooses its name.
  const named = all.filter(({ accepted }) => accepted);
  const [only] = named;
  const [waiting] = all;
  if (only === undefined)
    throw new CommandError(
      exitCodes.refused,
      waiting === undefined
        ? `There is no project "${text}": "phalanx project list" shows yours.`
        : `The project "${text}" is shared with you, and you have not accepted it: "phalanx shares" shows it. Without that, give its ID, ${waiting.id}.`,
    );
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several projects have the name "${text}": give an ID of ${named.map(({ id }) => id).join(', ')}.`,
  );
}

export const listUsers = (api: ApiClient): Promise<User[]> =>
  readAll(
    (query) => api.call(accessRoutes.listUsers, { query }),
    (page) => page.users,
  );

/** `text` is an ID, or for administrators a name. */
export async function getUserId(api: ApiClient, text: string): Promise<string> {
  if (isUuid(text)) return text.toLowerCase();
  const users = await listUsers(api).catch((error: unknown) => {
    if (!(error instanceof ApiRefusal) || error.status !== 403) throw error;
    throw usageError(`Only administrators find users by name: give the ID of the user "${text}".`);
  });
  const named = users.filter(({ name }) => name === text);
  const [only] = named;
  if (only === undefined)
    throw new CommandError(exitCodes.refused, `There is no user "${text}": "phalanx user list" shows them.`);
  if (named.length === 1) {
    rememberName(only.id, text);
    return only.id;
  }
  throw usageError(
    `Several users have the name "${text}": give an ID of ${named.map(({ id }) => id).join(', ')}.`,
  );
}

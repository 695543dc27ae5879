import { randomInt } from 'node:crypto';
import { Pairing, pairingRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { ConnectedHosts } from '../../hosts/connected-hosts.ts';
import type { KnownHost } from '../../hosts/known-hosts.ts';
import type { Principal } from '../../../http/requests/principal.ts';
import { addRoute } from '../../../http/requests/route.ts';
import { readAnswer } from '../ask-host.ts';
import { getHost, type HostSources } from './host-list.ts';

/** Characters that a pairing code does not escape, so that the phone reads them literally. */
const characters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const passwordLength = 16;
const nameLength = 10;

const answers = Compile(Type.Union([Pairing, Type.Null()]));

interface PairingRoutesOptions extends HostSources {
  connected: Pick<ConnectedHosts, 'ask'>;
}

/** `POST /hosts/:id/pairings` · `GET /hosts/:id/pairings/:pairing_id` */
export function addPairingRoutes(
  app: FastifyInstance,
  { connected, ...sources }: PairingRoutesOptions,
): void {
  const getOwn = async (id: string, principal: Principal): Promise<KnownHost> => {
    const { host, role } = await getHost(sources, { id, userId: principal.userId });
    if (role === 'owner') return host;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a host can pair phones with it' });
  };
  const ask = async ({ id, epoch, isConnected }: KnownHost, name: string, password: string | null) => {
    if (!isConnected || epoch === null) throw ApiError.of('host_offline', { host_id: id });
    try {
      const answer = await connected.ask(epoch, { type: 'pairing', serial: '', name, password });
      return readAnswer(answer, answers);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'no reason given';
      throw ApiError.of('pairing_failed', { host_id: id, reason }, { cause: error });
    }
  };

  addRoute(app, pairingRoutes.start, async ({ principal, params, auditEvent }) => {
    const host = await getOwn(params.id, principal);
    const name = `phalanx-${randomText(nameLength)}`;
    const password = randomText(passwordLength);
    auditEvent.on({ type: 'host', id: host.id, name: host.name }, [host.ownerId], { pairing_id: name });
    const pairing = await ask(host, name, password);
    if (pairing === null) throw ApiError.of('pairing_not_found', { host_id: host.id, pairing_id: name });
    return { success: true, pairing, code: `WIFI:T:ADB;S:${name};P:${password};;` };
  });

  addRoute(app, pairingRoutes.get, async ({ principal, params: { id, pairing_id } }) => {
    const host = await getOwn(id, principal);
    const isName = /^[A-Za-z0-9-]+$/.test(pairing_id);
    const pairing = isName ? await ask(host, pairing_id, null) : null;
    if (pairing === null) throw ApiError.of('pairing_not_found', { host_id: host.id, pairing_id });
    return { success: true, pairing };
  });
}

const randomText = (length: number): string =>
  Array.from({ length }, () => characters[randomInt(characters.length)]).join('');

import {
  labelRoutes,
  type Labels,
  type Pool,
  poolKey,
  poolRoutes,
  parseSelector,
  requireLabels,
  SelectorProblem,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { nameKey } from '../../../storage/db/dialect.ts';
import type { DeviceAccess } from '../device-access.ts';
import { deviceTarget, hostTarget } from '../device-shares.ts';
import { deviceView, type RunsByDevice } from '../device-view.ts';
import { getHost, type HostSources } from '../hosts/host-list.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { readPage } from '../../../http/requests/replies/page.ts';
import { addRoute } from '../../../http/requests/route.ts';
import { requireName, requireNameOrNone } from '../../../http/requests/require-name.ts';
import { TimeSlice } from '../../../kernel/limits/time-slice.ts';
import { readSelector, selects } from './phone-labels.ts';

interface LabelRoutesOptions extends HostSources {
  activeRunRows: RunsByDevice;
}

const maxPools = 200;

/** `PATCH /devices/:id` · `PUT /devices/:id/labels` · `PUT /hosts/:id/labels` · `GET, PUT, DELETE /pools` */
export function addLabelRoutes(
  app: FastifyInstance,
  { hosts, access, activeRunRows }: LabelRoutesOptions,
): void {
  const { labels } = access;

  addRoute(app, labelRoutes.renameDevice, async ({ principal, params, body, auditEvent }) => {
    const device = await access.getOwn(params.id, principal.userId);
    const name = requireNameOrNone(body.name);
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId], { name });
    await labels.rename(deviceTarget(device), name);
    access.fleet.announce([device.id]);
    const running = (await activeRunRows.mapByDevice([device.id])).get(device.id) ?? [];
    const seen = { device, role: 'owner' as const, viewerId: principal.userId };
    return { success: true, device: deviceView(access, running, seen) };
  });

  addRoute(app, labelRoutes.putDeviceLabels, async ({ principal, params, body, auditEvent }) => {
    const device = await access.getOwn(params.id, principal.userId);
    const checked = checkLabels(body.labels);
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    await labels.putLabels(deviceTarget(device), checked);
    access.fleet.announce([device.id]);
    return { success: true, labels: checked };
  });

  addRoute(app, labelRoutes.putHostLabels, async ({ principal, params, body, auditEvent }) => {
    const { host, role } = await getHost({ hosts, access }, { id: params.id, userId: principal.userId });
    if (role !== 'owner') throw ApiError.of('forbidden', { reason: 'Only the owner of a host can label it' });
    const checked = checkLabels(body.labels);
    auditEvent.on({ type: 'host', id: host.id, name: host.name }, [host.ownerId]);
    await labels.putLabels(hostTarget(host.ownerId, host.id.toLowerCase()), checked);
    return { success: true, labels: checked };
  });

  addRoute(app, poolRoutes.list, async ({ principal: { userId }, query }) => {
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor = '' }) => labels.listPools(userId).filter(({ name_key }) => name_key > nameKey(cursor)),
      ({ name }) => name,
    );
    return { success: true, pools: await viewPools(access, userId, items), next_cursor };
  });

  addRoute(app, poolRoutes.put, async ({ principal, params, body: { selector }, auditEvent }) => {
    const { userId } = principal;
    const name = requireName(params.name);
    checkPoolSelector(selector);
    auditEvent.on({ type: 'pool', id: name, name }, [userId], { selector });
    const pool = { user_id: userId, name_key: nameKey(name), name, selector };
    if (!(await labels.putPool(pool, maxPools))) throw ApiError.of('too_many_pools', { limit: maxPools });
    const [viewed] = await viewPools(access, userId, [pool]);
    return { success: true, pool: viewed ?? { name, selector, devices: { total: 0, ready: 0 } } };
  });

  addRoute(app, poolRoutes.delete, async ({ principal, params: { name }, auditEvent }) => {
    auditEvent.on({ type: 'pool', id: name, name }, [principal.userId]);
    if (!(await labels.deletePool(principal.userId, name))) throw ApiError.of('pool_not_found', { name });
    return { success: true, message: `Pool ${name} was deleted.` };
  });
}

function checkLabels(labels: Labels): Labels {
  try {
    requireLabels(labels);
    return labels;
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_labels', { problem: error.message });
  }
}

/** Throws `invalid_selector` also for a selector that names a pool, because pools of pools could be circular. */
function checkPoolSelector(selector: string): void {
  try {
    if (!parseSelector(selector).some(({ key }) => key === poolKey)) return;
    throw new SelectorProblem('a pool cannot name a pool');
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_selector', { selector, problem: error.message });
  }
}

async function viewPools(
  access: DeviceAccess,
  userId: string,
  pools: readonly { name: string; selector: string }[],
): Promise<Pool[]> {
  const counted = pools.map(({ name, selector }) => ({
    pool: { name, selector, devices: { total: 0, ready: 0 } },
    terms: readSelector(access.labels, userId, selector),
  }));
  const slice = new TimeSlice();
  for await (const seen of access.listForWork(userId))
    for (const { pool, terms } of counted)
      for (const { device } of seen) {
        if (slice.isOver) await slice.next();
        if (!selects(access.labels, terms, device)) continue;
        pool.devices.total += 1;
        if (device.state === 'ready') pool.devices.ready += 1;
      }
  return counted.map(({ pool }) => pool);
}

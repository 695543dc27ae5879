import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { Hosts } from '../hosts/feature.ts';
import type { Runs } from '../runs/feature.ts';
import { PhoneLabels } from './phone-labels.ts';
import { addLabelRoutes } from './routes.ts';
import { createLabelStore } from './store.ts';

/** Names and labels of phones, and saved selectors. */
export async function openLabels({ database, cluster }: Context): Promise<PhoneLabels> {
  const labels = new PhoneLabels(createLabelStore(database));
  await labels.load();
  cluster.invalidations.on('labels', () => labels.load());
  return labels;
}

interface LabelNeighbours {
  devices: DeviceAccess;
  hosts: Hosts;
  runs: Runs;
}

export function serveLabels({ app }: Context, { devices, hosts, runs }: LabelNeighbours): void {
  addLabelRoutes(app, { access: devices, hosts: hosts.known, activeRunRows: runs.activeRunRows });
}

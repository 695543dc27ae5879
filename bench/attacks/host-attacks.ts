/** Attacks by hosts that send more messages than any fleet. */
import { once } from 'node:events';
import { Type } from 'typebox';

import { LogSender, sampleEntries } from '../hosts/log-sender.ts';
import { SimulatedHost } from '../hosts/simulated-host.ts';
import { ask, directLaunch, launchPath } from '../http/api.ts';
import type { Attack, Ground } from './attack.ts';
import { Devices, times } from './load-attacks.ts';

/** Number of hosts that flood together. */
const hosts = 4;
const phonesOfHost = { logs: 1, messages: 500 };
/** Maximum number of unacknowledged frames of a run. */
const window = 40;
const entriesOfFrame = 1000;

const nameHost = (): string => `flood-${crypto.randomUUID()}`;

async function connectHost(
  ground: Ground,
  signal: AbortSignal,
  { name, phones }: { name: string; phones: number },
): Promise<SimulatedHost> {
  const own = await ground.createToken({});
  const host = await SimulatedHost.connect({ ...own, name, serials: times(phones, (at) => `${name}-${at}`) });
  host.onClosed = () => undefined;
  signal.addEventListener('abort', () => host.cut());
  return host;
}

/** Connects a host with a run on its phone. */
async function startLogging(ground: Ground, signal: AbortSignal): Promise<LogSender> {
  const name = nameHost();
  const host = await connectHost(ground, signal, { name, phones: phonesOfHost.logs });
  const { devices } = await ask(ground.api, `/api/v2/devices?search=${name}`, Devices);
  for (const { device_id } of devices)
    await ask(ground.api, launchPath, Type.Unknown(), directLaunch(device_id));
  const [runId = ''] = host.runIds;
  return new LogSender({ host, runId, entries: sampleEntries(entriesOfFrame), window });
}

async function floodLogs(ground: Ground, signal: AbortSignal): Promise<string> {
  const senders: LogSender[] = [];
  while (senders.length < hosts) senders.push(await startLogging(ground, signal));
  for (const sender of senders) sender.start();
  if (!signal.aborted) await once(signal, 'abort');
  return `${senders.reduce((sum, { stored }) => sum + stored, 0)} entries stored`;
}

async function floodMessages(ground: Ground, signal: AbortSignal): Promise<string> {
  let beats = 0;
  const flooding = times(hosts, async () => {
    const host = await connectHost(ground, signal, { name: nameHost(), phones: phonesOfHost.messages });
    const aborted = signal.aborted ? undefined : once(signal, 'abort');
    for (; !signal.aborted; beats += 1) await Promise.race([host.beat(), aborted]);
  });
  await Promise.all(flooding);
  return `${beats} heartbeats of ${phonesOfHost.messages} phones`;
}

export const hostAttacks: readonly Attack[] = [
  {
    name: 'log-flood',
    attack: 'four hosts that send the log of a run as fast as it is stored',
    before: 'not reported',
    play: floodLogs,
  },
  {
    name: 'message-flood',
    attack: 'four hosts that confirm 500 phones each, in a loop',
    before: 'not reported',
    play: floodMessages,
  },
];

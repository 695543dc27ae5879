import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { heartbeatMs, SimulatedHost, type HostPlan } from '../hosts/simulated-host.ts';

let plans: HostPlan[] = [];
let beating: NodeJS.Timeout | undefined;
let hosts: SimulatedHost[] = [];

answerParent({
  plan: command(
    Type.Object({
      url: Type.String(),
      tokens: Type.Array(Type.String()),
      hosts: Type.Integer(),
      devicesPerHost: Type.Integer(),
    }),
    ({ url, tokens, hosts: count, devicesPerHost }) => {
      plans = Array.from({ length: count }, (_, host) => ({
        url,
        token: tokens[host % tokens.length] ?? '',
        name: `host ${host}`,
        hostId: randomUUID(),
        serials: Array.from({ length: devicesPerHost }, (_unused, device) => `phone-${host}-${device}`),
      }));
    },
  ),
  /** Connects all at once. Returns the time in ms until the server knew the devices of the last one. */
  connect: async () => {
    const startedAt = performance.now();
    hosts = await Promise.all(plans.map((plan) => SimulatedHost.connect(plan)));
    const tookMs = performance.now() - startedAt;
    beating = setInterval(() => hosts.forEach((host) => void host.beat()), heartbeatMs);
    return tookMs;
  },
  cut: () => {
    clearInterval(beating);
    for (const host of hosts) host.cut();
  },
});

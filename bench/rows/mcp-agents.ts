/**
 * Figure: the 99th percentile of the latency of `read_screen` through `/mcp`, while 100 agents read the screens of
 * ten simulated phones, each every two seconds. Baseline: the same through `GET /devices/:id/screen?view=compact`.
 *
 * Fair because the same client requests both at the same rate, alternately, and the phone takes the same time for
 * both. The difference is the protocol, and that a call passes the service a second time.
 */
import { Type } from 'typebox';

import { percentile } from '../harness/percentile.ts';
import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const agents = 100;
const phones = 10;
const everyMs = 2000;
const durationMs = 10_000;
const rounds = 3;
const Took = Type.Array(Type.Number());

export const mcpAgents: Row = {
  name: 'mcp-agents',
  title: 'read_screen of 100 agents through /mcp, 99th percentile',
  against: 'the same screens by GET',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, deviceIds } = await startServerWithPhones(stage, phones);
    const load = await stage.start('http-load');
    const p99 = (requestOf: (device: string, agent: number) => object) => async () => {
      const requests = Array.from({ length: agents }, (_, agent) =>
        requestOf(deviceIds[agent % phones] ?? '', agent),
      );
      const input = { ...api, requests, everyMs, durationMs };
      return percentile(await load.call('pacedAgents', input, Took), 0.99);
    };
    const measured = await interleave({
      rounds,
      figure: p99((device, id) => ({ path: '/mcp', body: readScreen(device, id) })),
      baseline: p99((device) => ({ path: `/api/v2/devices/${device}/screen?view=compact` })),
    });
    return {
      ...measured,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 2 }],
      notes: [`${agents} agents, ${(1000 * agents) / everyMs} calls a second, ${phones} phones`],
    };
  },
};

const readScreen = (device: string, id: number): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'read_screen', arguments: { device } },
});

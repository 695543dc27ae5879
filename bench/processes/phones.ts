import { sampleApps, startSimulatedPhone } from '@phalanx/simulated-phone';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { largeAppOf } from '../phones/large-app.ts';
import { layCable } from '../phones/slow-cable.ts';

answerParent({
  /** Simulated phones, for other processes to drive: their work is not the host's. Returns their ports. */
  start: command(
    Type.Object({ count: Type.Integer(), roundTripMs: Type.Number(), nodes: Type.Integer() }),
    async ({ count, roundTripMs, nodes }) => {
      const serials = Array.from({ length: count }, (_, index) => `phone-${index}`);
      const apps = [...sampleApps, largeAppOf(nodes)];
      const phones = await Promise.all(serials.map((serial) => startSimulatedPhone({ serial, apps })));
      return roundTripMs === 0
        ? phones.map(({ port }) => port)
        : Promise.all(phones.map((phone) => layCable(phone, roundTripMs)));
    },
  ),
});

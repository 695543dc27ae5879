import { sampleApps, startSimulatedPhone, type SimulatedPhone } from '@phalanx/simulated-phone';
import { startRealAdbd, type RealAdbd } from '@phalanx/simulated-phone/testing/real-adbd';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { largeApp, largeAppOf } from '../phones/large-app.ts';
import { player } from '../phones/player-app.ts';
import { layCable } from '../phones/slow-cable.ts';

let adbds: readonly RealAdbd[] = [];
let phones: readonly SimulatedPhone[] = [];
const counted = { readings: 0 };

answerParent({
  /**
   * Starts simulated phones that other processes use, so that their work does not count as the host's. With
   * `adbdRoot`, a real adbd stands before each. Returns their ports.
   */
  start: command(
    Type.Object({
      count: Type.Integer(),
      roundTripMs: Type.Number(),
      nodes: Type.Integer(),
      adbdRoot: Type.Optional(Type.String()),
    }),
    async ({ count, roundTripMs, nodes, adbdRoot }) => {
      const serials = Array.from({ length: count }, (_, index) => `phone-${index}`);
      const apps = [...sampleApps, largeAppOf(nodes, counted), player];
      phones = await Promise.all(serials.map((serial) => startSimulatedPhone({ serial, apps })));
      if (adbdRoot !== undefined) {
        adbds = await Promise.all(phones.map((phone) => startRealAdbd(phone, adbdRoot)));
        return adbds.map(({ port }) => port);
      }
      return roundTripMs === 0
        ? phones.map(({ port }) => port)
        : Promise.all(phones.map((phone) => layCable(phone, roundTripMs)));
    },
  ),
  /** Shows the large app. With `changes`, its content differs at each reading. */
  showLarge: command(Type.Object({ changes: Type.Boolean() }), ({ changes }) => {
    for (const { android, faults } of phones) {
      android.startActivity(largeApp);
      faults.beforeReading = changes
        ? () => {
            counted.readings += 1;
            android.redraw();
          }
        : undefined;
    }
  }),
  /** Removes the files that a real adbd leaves on the machine. */
  stop: command(Type.Object({}), () => Promise.all(adbds.map((adbd) => adbd.stop()))),
});

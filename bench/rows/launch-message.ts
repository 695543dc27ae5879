import type { ServerMessage } from '@phalanx/protocol';

import { bundleOf } from '../../apps/server/src/runs/launches/bundles.ts';
import { bundleSample } from '../harness/bundle-sample.ts';

/** Returns the message of a launch on several devices of one host, as the server sends it. */
export async function launchMessage(sourceCode: string, devices: number): Promise<string> {
  const { hash, code, sourceMap } = bundleOf(await bundleSample(sourceCode));
  const message: ServerMessage = {
    type: 'launch',
    automation_id: crypto.randomUUID(),
    bundle: { hash, content: { code, source_map: sourceMap } },
    automation_parameters: {},
    job_variables: {},
    runs: Array.from({ length: devices }, (_, index) => ({
      run_id: crypto.randomUUID(),
      device_id: crypto.randomUUID(),
      serial: `phone-${index}`,
    })),
  };
  return JSON.stringify(message);
}

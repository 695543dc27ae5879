import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { setup } from '../../apps/server/src/testing/engines/start-engines.ts';
import { findMissing, findS3Root } from '../../scripts/test-components.ts';
import { recordTranscript } from './play.ts';
import { type EngineName, engineNames } from './stage.ts';

const usage = `Usage: npm run lab -- transcript --out FILE [--seed N] [--engine ${engineNames.join('|')}]

Plays the API, and writes what it answers to FILE. The same seed plays the same.`;

const isEngine = (name: string): name is EngineName => (engineNames as readonly string[]).includes(name);

function readOptions(): { out: string; seed: number; engine: EngineName } | undefined {
  try {
    const { values } = parseArgs({
      options: {
        out: { type: 'string' },
        seed: { type: 'string', default: '1' },
        engine: { type: 'string', default: 'sqlite' },
      },
    });
    const { out, engine } = values;
    const seed = Number(values.seed);
    return out !== undefined && Number.isSafeInteger(seed) && isEngine(engine)
      ? { out, seed, engine }
      : undefined;
  } catch {
    return undefined;
  }
}

const options = readOptions();
if (options === undefined) {
  console.error(usage);
  process.exit(2);
}
process.env['TEST_S3_ROOT'] = findS3Root(findMissing('engines')) ?? '';
const stopEngines = await setup();
try {
  const { text, complaints } = await recordTranscript(options.engine, options.seed);
  await writeFile(options.out, text);
  for (const complaint of complaints) console.error(complaint);
} finally {
  await stopEngines();
}
// The compiler of the test servers would keep the process alive.
process.exit();

import { stringAt } from '../string-at.ts';

/** The slowest one, Ceph, has limits of its own that add up to less. */
const startLimitMs = 200_000;

/** The JSON address of an engine of this run of the tests, which starts when nobody has asked for it before. */
export async function askForEngine(name: 'postgres' | 'nats' | 's3'): Promise<unknown> {
  const signal = AbortSignal.timeout(startLimitMs);
  const reply = await fetch(`${process.env['TEST_ENGINES']}/${name}`, { signal }).catch((error: unknown) => {
    throw new Error(`the engine ${name} of the tests did not start, or their main process is gone`, {
      cause: error,
    });
  });
  if (!reply.ok) throw new Error(`${await reply.text()}: npm run set-up:tests installs what the tests need`);
  return reply.json();
}

/** Address of the NATS of this run of the tests. */
export const getNatsUrl = async (): Promise<string> => stringAt(await askForEngine('nats'), 'url');

import { stringAt } from '../string-at.ts';

/** The JSON address of an engine of this run of the tests, which starts when nobody has asked for it before. */
export async function askForEngine(name: 'postgres' | 'nats' | 's3'): Promise<unknown> {
  const reply = await fetch(`${process.env['TEST_ENGINES']}/${name}`);
  if (!reply.ok) throw new Error(`${await reply.text()}: npm run set-up:tests installs what the tests need`);
  return reply.json();
}

/** Address of the NATS of this run of the tests. */
export const getNatsUrl = async (): Promise<string> => stringAt(await askForEngine('nats'), 'url');

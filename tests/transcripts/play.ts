import { SeededRandom } from '../support/seeded-random.ts';
import { Player } from './player.ts';
import { codeSections } from './rooms/code.ts';
import { controlSections } from './rooms/control.ts';
import { evidenceSections } from './rooms/evidence.ts';
import { fleetSections } from './rooms/fleet.ts';
import { operationsSections } from './rooms/operations.ts';
import { runsSections } from './rooms/runs.ts';
import { workSections } from './rooms/work.ts';
import { type EngineName, Stage } from './stage.ts';

const rooms = [
  fleetSections,
  codeSections,
  runsSections,
  controlSections,
  evidenceSections,
  workSections,
  operationsSections,
];

export interface Transcript {
  readonly text: string;
  /** Operations that were called. */
  readonly played: ReadonlySet<string>;
  /** Failed steps, which leave less to compare. */
  readonly complaints: readonly string[];
}

/** Plays all sections in the order of the seed, on separate servers. */
export async function recordTranscript(engine: EngineName, seed: number): Promise<Transcript> {
  const random = new SeededRandom(seed);
  const sections = random.shuffled(rooms.flatMap((sectionsOf) => sectionsOf(random)));
  const stage = await Stage.open(engine);
  try {
    const player = new Player(stage);
    for (const section of sections) await player.play(section);
    const { transcript: text, played, complaints } = player;
    return { text, played, complaints };
  } finally {
    await stage.close();
  }
}

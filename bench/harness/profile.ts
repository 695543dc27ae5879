import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';

/** Part of a V8 CPU profile that is used here. */
const Profile = Type.Object({
  nodes: Type.Array(
    Type.Object({
      id: Type.Integer(),
      callFrame: Type.Object({
        functionName: Type.String(),
        url: Type.String(),
        lineNumber: Type.Integer({ description: 'Counted from 0' }),
      }),
    }),
  ),
  samples: Type.Array(Type.Integer()),
  timeDeltas: Type.Array(Type.Number({ description: 'Microseconds' })),
});
type Profile = Static<typeof Profile>;
type Frame = Profile['nodes'][number]['callFrame'];

const shownFrames = 25;

/** Names a function's file: our files by path in the repository, packages by name. */
function placeOf({ functionName, url, lineNumber }: Frame): string {
  const place = url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^file:\/\/.*\/(apps|packages|bench)\//, '$1/');
  return `${functionName || '(anonymous)'} ${place === '' ? '' : `${place}:${lineNumber + 1}`}`.trim();
}

/** Returns the self time of each function, in ms. */
function selfTimes({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const places = new Map(nodes.map((node) => [node.id, placeOf(node.callFrame)]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const place = places.get(id) ?? '';
    times.set(place, (times.get(place) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
  return times;
}

async function printProfile(folder: string, file: string): Promise<void> {
  const profile = Value.Parse(Profile, JSON.parse(await readFile(path.join(folder, file), 'utf8')));
  const times = selfTimes(profile);
  const busyMs = [...times].reduce((sum, [place, ms]) => (place === '(idle)' ? sum : sum + ms), 0);
  console.log(`\n${file}: busy for ${Math.round(busyMs)} ms`);
  const top = [...times].sort((a, b) => b[1] - a[1]).slice(0, shownFrames);
  for (const [place, ms] of top) {
    const share = place === '(idle)' ? '' : ` ${((100 * ms) / busyMs).toFixed(1).padStart(5)} %`;
    console.log(`${ms.toFixed(0).padStart(8)} ms${share.padEnd(8)}  ${place}`);
  }
}

/** Prints where each process with a profile below `folder` spent its time. */
export async function printProfiles(folder: string): Promise<void> {
  for await (const file of glob('**/*.cpuprofile', { cwd: folder })) await printProfile(folder, file);
  console.log(`\nThe profiles are in ${folder}`);
}

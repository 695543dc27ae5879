/**
 * Compares `PUT /automation/file/:id` of one TypeScript file of 200 lines in a project of 20 files, over HTTP, until
 * the service confirms that it is stored, with the same file through the indispensable parts, one after the other in
 * one process: the native checker with a warm project, one esbuild transform, and one git write (the blob, the
 * folders above it, one ref) by persistent git commands.
 *
 * Fair because each content is new and is checked with all types, both are warm, and both writes count only when
 * synced to the disk. The service also stores the emitted code, keeps it in a separate tree, and enforces the
 * project's limits; HTTP, the checks and the messages to the compile process are the cost of the service.
 */
import { Type, type Static } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { changedContent, changedPath } from '../projects/sample-project.ts';
import { startServerWithProject, type ServerWithProject } from './server-with-project.ts';

const fileCount = 20;
const manyFiles = 2000;
const writesPerRound = 6;
const rounds = 7;

const Parts = Type.Object({ checkMs: Type.Number(), emitMs: Type.Number(), gitMs: Type.Number() });

export const write: Row = {
  name: 'write',
  title: 'a TypeScript file of 200 lines is checked, compiled and stored',
  against: 'raw checker, raw emit and one git write',
  async measure(stage: Stage): Promise<RowResult> {
    const small = await startServerWithProject(stage, fileCount);
    const large = await startServerWithProject(stage, manyFiles);
    const raw = await stage.start('raw-project');
    await raw.call('open', { folder: await stage.folder(), files: fileCount }, Type.Unknown());
    const parts: Static<typeof Parts>[] = [];
    const atManyMs: number[] = [];
    let isWarm = false;
    const medians = await interleave({
      rounds,
      figure: async () => {
        const ofMany = await writeSome(large);
        if (isWarm) atManyMs.push(ofMany);
        return writeSome(small);
      },
      baseline: async () => {
        const some: Static<typeof Parts>[] = [];
        for (let count = 0; count < writesPerRound; count += 1) {
          some.push(await raw.call('write', {}, Parts));
        }
        if (isWarm) parts.push(...some);
        isWarm = true;
        return median(some.map(({ checkMs, emitMs, gitMs }) => checkMs + emitMs + gitMs));
      },
    });
    const part = (name: keyof Static<typeof Parts>): string =>
      `${median(parts.map((one) => one[name])).toFixed(1)} ms`;
    const manyMs = median(atManyMs);
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 2 }],
      notes: [
        `parts of the baseline: check ${part('checkMs')}, emit ${part('emitMs')}, git ${part('gitMs')}`,
        `in a project of ${manyFiles.toLocaleString('en-US')} files: ${manyMs.toFixed(1)} ms, ${(manyMs / medians.figure).toFixed(2)} times as long`,
      ],
    };
  },
};

async function writeSome({ send, projectId }: ServerWithProject): Promise<number> {
  const path = `/api/v2/automation/file/${projectId}`;
  const requests = Array.from({ length: writesPerRound }, () => ({
    method: 'PUT',
    path,
    body: { path: changedPath, content: changedContent() },
  }));
  return median(await send(requests));
}

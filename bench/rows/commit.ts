/**
 * Compares `POST /automation/commit/:id` after one file has changed, in a project of 20 files, over HTTP, until the
 * service confirms that it is stored, with `git commit-tree`, started for each commit as git is usually called, and
 * one `update-ref` in a persistent process.
 *
 * Fair because both count only when synced to the disk. The service starts no process, and moves more refs: its saved
 * state, the branch that clones see, and the compiled output of the commit.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { changedContent, changedPath } from '../projects/sample-project.ts';
import { startServerWithProject, type ServerWithProject } from './server-with-project.ts';

const fileCount = 20;
const manyFiles = 2000;
const commitsPerRound = 5;
const rounds = 7;

export const commit: Row = {
  name: 'commit',
  title: 'one changed file is committed',
  against: 'git commit-tree and one update-ref',
  async measure(stage: Stage): Promise<RowResult> {
    const small = await startServerWithProject(stage, fileCount);
    const large = await startServerWithProject(stage, manyFiles);
    const raw = await stage.start('raw-project');
    await raw.call('open', { folder: await stage.folder(), files: fileCount }, Type.Unknown());
    const atManyMs: number[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        atManyMs.push(await commitSome(large));
        return commitSome(small);
      },
      baseline: async () => {
        const some: number[] = [];
        for (let count = 0; count < commitsPerRound; count += 1) {
          some.push(await raw.call('commit', {}, Type.Number()));
        }
        return median(some);
      },
    });
    const manyMs = median(atManyMs.slice(1));
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 2 }],
      notes: [
        `in a project of ${manyFiles.toLocaleString('en-US')} files: ${manyMs.toFixed(1)} ms, ${(manyMs / medians.figure).toFixed(2)} times as long`,
      ],
    };
  },
};

/** Measures the commits without the writes before them. */
async function commitSome({ send, projectId }: ServerWithProject): Promise<number> {
  const requests = Array.from({ length: commitsPerRound }, () => [
    {
      method: 'PUT',
      path: `/api/v2/automation/file/${projectId}`,
      body: { path: changedPath, content: changedContent() },
    },
    { method: 'POST', path: `/api/v2/automation/commit/${projectId}`, body: { message: 'bench' } },
  ]);
  const tookMs = await send(requests.flat());
  return median(tookMs.filter((_, index) => index % 2 === 1));
}

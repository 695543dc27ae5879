/**
 * Compares `PUT /automation/file/:id` of a text file that needs no compiling, in a project of 20 files, over HTTP,
 * until the service confirms that it is stored, with one git write of the same content (the blob, the folders above
 * it, one ref) by persistent git commands.
 *
 * Fair because both count only when synced to the disk. The service also checks the request, counts the user's
 * storage, and records the user.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { changedContent } from '../projects/sample-project.ts';
import { startServerWithProject } from './server-with-project.ts';

const fileCount = 20;
const savesPerRound = 10;
const rounds = 7;

export const save: Row = {
  name: 'save',
  title: 'a text file of 200 lines is stored',
  against: 'one git write',
  async measure(stage: Stage): Promise<RowResult> {
    const { send, projectId } = await startServerWithProject(stage, fileCount);
    const raw = await stage.start('raw-project');
    await raw.call('open', { folder: await stage.folder(), files: fileCount }, Type.Unknown());
    const path = `/api/v2/automation/file/${projectId}`;
    const medians = await interleave({
      rounds,
      figure: async () => {
        const requests = Array.from({ length: savesPerRound }, () => ({
          method: 'PUT',
          path,
          body: { path: 'notes/step1.txt', content: changedContent() },
        }));
        return median(await send(requests));
      },
      baseline: async () => {
        const tookMs: number[] = [];
        for (let count = 0; count < savesPerRound; count += 1)
          tookMs.push(await raw.call('save', {}, Type.Number()));
        return median(tookMs);
      },
    });
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 1.3 }],
      notes: [],
    };
  },
};

import type { Hash } from 'node:crypto';
import { maxRunFiles, problemWithFileName } from '@phalanx/protocol';
import type { CaptureKey } from '../captures/captures.ts';
import type { Expectation, UploadNotes } from '../captures/uploads.ts';
import type { RunFileStore } from './store.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { FindRunOfHost } from '../runs/stored-run.ts';

/** A run file that is being uploaded, by the ID that its host assigned. */
export interface RunFileKey extends CaptureKey<'file'> {
  readonly name: string;
  readonly contentType: string;
  /** User whose host uploads it. */
  readonly userId: string;
  /** Hash of the bytes received so far. */
  readonly hash: Hash;
}

interface Options {
  store: RunFileStore;
  findRunOfHost: FindRunOfHost;
  clock: Clock;
}

const runNotFound = (runId: string): ApiError => ApiError.of('run_not_found', { run_id: runId });

/** Creates the bookkeeping of run files for `Uploads`. */
export function createRunFileNotes({ store, findRunOfHost, clock }: Options): UploadNotes<RunFileKey> {
  /** Refuses a file with a new name before its body is read, when the run has reached its file limit. */
  const requireRoom = async (runId: string): Promise<Expectation> => {
    if ((await store.count(runId)) < maxRunFiles) return 'expected';
    throw ApiError.of('too_many_run_files', { run_id: runId, limit: maxRunFiles });
  };
  return {
    async expectationOf(caller, { recordId: runId, screenId: fileId, name }) {
      const problem = problemWithFileName(name);
      if (problem !== undefined)
        throw ApiError.of('invalid_request', { problem: problem.replace(/\.$/, '') });
      if ((await findRunOfHost(runId, caller)) === undefined) return 'unknown';
      const known = await store.find(runId, name);
      if (known === undefined) return requireRoom(runId);
      if (known.file_id === fileId) return 'stored';
      throw ApiError.of('run_file_exists', { run_id: runId, name });
    },
    noteStored: ({ recordId, screenId, name, contentType, userId, hash }, sizeBytes) =>
      store.add(
        {
          run_id: recordId,
          file_id: screenId,
          name,
          content_type: contentType,
          user_id: userId,
          size_bytes: sizeBytes,
          sha256: hash.digest('hex'),
          created_at: clock.now(),
        },
        maxRunFiles,
      ),
    notExpected: ({ recordId }) => runNotFound(recordId),
  };
}

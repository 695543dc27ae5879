/**
 * The [job](../jobs-and-schedules.md) of the run. A run begins with one task, whose input is
 * `agent.arguments.jobVariables`. With `success: false`, `error` says what is wrong. A task that the run has
 * not submitted is settled when the run ends: completed or failed, as the run.
 *
 * In a run without a job, `submitTask` makes its data the result of the run, `useAnotherTask` returns null, and
 * the other calls return an error or no tasks.
 *
 * The published interface names `job_proof` and does not say what it holds. Here it is the input of the current
 * task (`useAnotherTask`, `getCurrentTask`), and the result of another task (`getSubTasks`).
 *
 * @example
 * const { job } = agent.utils;
 * for (let input = agent.arguments.jobVariables; ;) {
 *   await job.submitTask('success', { sum: Number(input.a ?? 1) + Number(input.b ?? 2) });
 *   const next = await job.useAnotherTask();
 *   if (next === null) break;
 *   input = JSON.parse(next.job_proof);
 * }
 */
interface JobUtils {
  /**
   * Stores the result of the current task. A final submission (`finish`, the default) settles the task, however
   * the run ends: `success` completes it; `failed` fails it, and the job tries it again if its `retries`
   * include `error`; `declined` fails it for good, for input that can't be used. The task accepts no other
   * submission then. The run goes on. `running`, with `finish` as false, stores an interim result.
   *
   * @param data At most 64 KiB of JSON.
   * @param files Attached to the run as `<number of the task>-<name>.<extension>`. Ignored when `finish` is false.
   */
  submitTask(
    automationStatus: 'running' | 'success' | 'failed' | 'declined',
    data: Record<string, unknown>,
    finish?: boolean,
    files?: readonly TaskFile[],
  ): Promise<JobFailure | { success: true; error?: undefined }>;
  /**
   * Takes another task of the job, so that one run does several. It is the current task from then on;
   * `job_proof` is the JSON of its input. Resolves with null when no task waits that may begin now on this
   * phone. Rejects when the server could not be asked.
   */
  useAnotherTask(): Promise<{ job_task_id: string; job_proof: string } | null>;
  /** Returns the current task: its ID, its input as `job_proof`, and how long a run may last, in milliseconds. */
  getCurrentTask(): Promise<
    | JobFailure
    | {
        success: true;
        parent_task_id: string;
        job_proof: Record<string, unknown>;
        timeout: number;
        error?: undefined;
      }
  >;
  /**
   * Adds a task for each object to the job, or to another job of the same project and user; at most 1,000 at
   * once. They wait for phones as all tasks do, also with `run_immediately`: then `assignment_results` says for
   * each whether it has begun.
   */
  addSubTasks(
    jobVariables: readonly Record<string, unknown>[],
    runImmediately?: boolean,
    jobId?: string,
  ): Promise<JobFailure | AddedSubTasks>;
  addSubTasks(options: SubTaskOptions): Promise<JobFailure | AddedSubTasks>;
  /**
   * Returns tasks of the project by their IDs, as far as they exist. `job_proof` is the result; `comment` says
   * why a task failed.
   */
  getSubTasks(
    plannedTaskIds: readonly string[],
  ): Promise<JobFailure | { success: true; tasks: Record<string, SubTask>; error?: undefined }>;
  /**
   * Adds a task with its result to another job of the same project and user: completed (`pending`), or failed. Files are
   * attached to this run.
   */
  submitTaskToAnotherJob(
    jobId: string,
    data: Record<string, unknown>,
    status?: 'pending' | 'failed' | 'declined',
    files?: readonly TaskFile[],
  ): Promise<JobFailure | { success: true; job_task_id: string; job_id: string; error?: undefined }>;
}

/** Declares the fields of a success as `undefined`, so that `success` tells the two apart without `strict` too. */
type JobFailure = {
  success: false;
  error: string;
  parent_task_id?: undefined;
  job_proof?: undefined;
  timeout?: undefined;
  inserted_ids?: undefined;
  assignment_results?: undefined;
  tasks?: undefined;
  job_task_id?: undefined;
  job_id?: undefined;
};

interface TaskFile {
  name: string;
  /** Extension of the name, without a dot. */
  extension: string;
  base64Data: string;
}

interface SubTaskOptions {
  job_variables: readonly Record<string, unknown>[];
  run_immediately?: boolean;
  job_id?: string;
  /** Not supported: a call with it gives an error. */
  remote_device_id?: string;
}

interface AddedSubTasks {
  success: true;
  inserted_ids: { planned_task_id: string; input: string }[];
  /** Present with `run_immediately`. */
  assignment_results?: { planned_task_id: string; assigned: boolean }[];
  error?: undefined;
}

interface SubTask {
  parent_task_id: string | null;
  comment: string | null;
  job_proof: unknown;
  timeout: number;
  /** State of the task: `waiting`, `running`, `completed`, `failed` or `cancelled`. */
  status: string;
}

import type { RunTask, TaskAnswer } from '@phalanx/protocol';
import type { AgentParts } from './agent-parts.ts';
import { fromBase64 } from './files.ts';

const noJob = 'This run is of no job: launch the project with "phalanx jobs create", or give a job ID.';
const statuses = ['running', 'success', 'failed', 'declined'];

type Needs = Pick<AgentParts, 'bridge' | 'setResult'> & Pick<AgentRun, 'attach'>;
type Answer = Extract<TaskAnswer, { success: true }>;

/** `agent.utils.job`. */
export function createJob(needs: Needs): JobUtils {
  const { bridge } = needs;
  const current = (): Promise<Answer> => asked(bridge.call('task.current', {}));
  return {
    ...submissions(needs, current),
    ...subTasks(needs),
    useAnotherTask: async () => {
      const [task] = (await asked(bridge.call('task.next', {}))).tasks;
      return task === undefined
        ? null
        : { job_task_id: task.id, job_proof: JSON.stringify(task.input ?? {}) };
    },
    getCurrentTask: () =>
      failureOr(async () => {
        const { tasks, timeoutMs } = await current();
        const [task] = tasks;
        if (task === undefined) return failure(noJob);
        return { success: true, parent_task_id: task.id, job_proof: task.input ?? {}, timeout: timeoutMs };
      }),
  };
}

function submissions(
  { bridge, setResult, attach }: Needs,
  current: () => Promise<Answer>,
): Pick<JobUtils, 'submitTask' | 'submitTaskToAnotherJob'> {
  return {
    // oxlint-disable-next-line max-params -- the published signature of the agent API
    submitTask: (status, data, finish = true, files = []) =>
      failureOr(async () => {
        requireStatus(status, finish);
        const json = objectJson(data);
        const [task] = (await current()).tasks;
        if (finish) await attachAll(attach, files, task === undefined ? '' : `${task.number}-`);
        if (task === undefined) setResult(json);
        else await asked(bridge.call('task.submit', { status, isFinal: finish, data: json }));
        return { success: true };
      }),
    // oxlint-disable-next-line max-params -- the published signature of the agent API
    submitTaskToAnotherJob: (jobId, data, status = 'pending', files = []) =>
      failureOr(async () => {
        if (!['pending', 'failed', 'declined'].includes(status))
          return failure('A status is "pending", "failed" or "declined".');
        const order = { jobId: String(jobId), isSuccess: status === 'pending', data: objectJson(data) };
        const [task] = (await asked(bridge.call('task.submitElsewhere', order))).tasks;
        if (task === undefined) return failure('The task was not stored.');
        await attachAll(attach, files, `${task.id.slice(-6)}-`);
        return { success: true, job_task_id: task.id, job_id: task.job_id };
      }),
  };
}

function subTasks({ bridge }: Needs): Pick<JobUtils, 'addSubTasks' | 'getSubTasks'> {
  return {
    addSubTasks: (given: unknown, runImmediately?: boolean, jobId?: string) =>
      failureOr(async () => {
        const options = optionsOf(given, { runImmediately, jobId });
        const inputs = options.job_variables.map(objectJson);
        if (inputs.length === 0) return failure('Give at least one object of job variables.');
        if (options.remote_device_id !== undefined)
          return failure('remote_device_id is not supported: the selector of a job chooses its phones.');
        const about = options.job_id === undefined ? {} : { jobId: options.job_id };
        const { tasks } = await asked(bridge.call('task.add', { ...about, inputs }));
        return tasks.length === 0 ? failure(noJob) : added(tasks, options.run_immediately === true);
      }),
    getSubTasks: (ids) =>
      failureOr(async () => {
        const { tasks, timeoutMs } = await asked(bridge.call('task.list', { ids: [...ids].map(String) }));
        const entries = tasks.map((task) => [task.id, subTaskOf(task, timeoutMs)] as const);
        return { success: true, tasks: Object.fromEntries(entries) };
      }),
  };
}

const failure = (error: string): JobFailure => ({ success: false, error });

async function asked(call: Promise<TaskAnswer>): Promise<Answer> {
  const answer = await call;
  if (answer.success) return answer;
  throw new Error(answer.error);
}

async function failureOr<Result>(work: () => Promise<Result>): Promise<Result | JobFailure> {
  try {
    return await work();
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function requireStatus(status: string, isFinal: boolean): void {
  if (!statuses.includes(status)) throw new TypeError(`A status is one of ${statuses.join(', ')}.`);
  if (status === 'running' && isFinal)
    throw new TypeError('The status "running" is not final: give finish as false.');
}

function objectJson(value: unknown): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return JSON.stringify(value);
  throw new TypeError('The data and the variables of a task are objects.');
}

/** Attaches files under a prefix per task, because a run may process several tasks. */
async function attachAll(
  attach: AgentRun['attach'],
  files: readonly TaskFile[],
  prefix: string,
): Promise<void> {
  for (const { name, extension, base64Data } of files)
    await attach(`${prefix}${name}.${extension}`, fromBase64(base64Data));
}

interface OtherArguments {
  runImmediately: boolean | undefined;
  jobId: string | undefined;
}

function optionsOf(given: unknown, { runImmediately, jobId }: OtherArguments): SubTaskOptions {
  if (Array.isArray(given))
    return {
      job_variables: given,
      ...(runImmediately !== undefined && { run_immediately: runImmediately }),
      ...(jobId !== undefined && { job_id: jobId }),
    };
  const isOptions = typeof given === 'object' && given !== null && 'job_variables' in given;
  if (!isOptions || !Array.isArray(given.job_variables))
    throw new TypeError('addSubTasks takes a list of job variables, or an object with them.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the host checks what else it holds
  return given as SubTaskOptions;
}

function added(tasks: readonly RunTask[], isImmediate: boolean): AddedSubTasks {
  const inserted_ids = tasks.map(({ id, input }) => ({ planned_task_id: id, input: JSON.stringify(input) }));
  if (!isImmediate) return { success: true, inserted_ids };
  const assigned = tasks.map(({ id, status }) => ({ planned_task_id: id, assigned: status !== 'waiting' }));
  return { success: true, inserted_ids, assignment_results: assigned };
}

const subTaskOf = ({ parent_id, comment, result, status }: RunTask, timeout: number): SubTask => ({
  parent_task_id: parent_id,
  comment,
  job_proof: result,
  timeout,
  status,
});

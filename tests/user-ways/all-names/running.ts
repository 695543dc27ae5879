import { calls, thrown } from './calls';

/** Checks the job API in a run without a job. */
async function working(): Promise<void> {
  const { job } = agent.utils;
  const file: TaskFile = { name: 'task', extension: 'txt', base64Data: btoa('text') };
  const nowhere = '00000000-0000-4000-8000-000000000000';
  const options: SubTaskOptions = { job_variables: [{ a: 1 }], run_immediately: true };
  const current = await job.getCurrentTask();
  const added = await job.addSubTasks(options);
  const listed = await job.getSubTasks([nowhere]);
  await calls<JobUtils>('JobUtils', {
    submitTask: async () => {
      const wrong = await job.submitTask('running', {});
      const noted = await job.submitTask('running', { a: 1 }, false);
      const submitted = await job.submitTask('success', { a: 2 }, true, [file]);
      return !wrong.success && noted.success && submitted.success;
    },
    useAnotherTask: async () => (await job.useAnotherTask()) === null,
    getCurrentTask: () => !current.success && current.error.includes('of no job'),
    addSubTasks: async () => !added.success && !(await job.addSubTasks([{ a: 1 }], false)).success,
    getSubTasks: () => listed.success && Object.keys(listed.tasks).length === 0,
    submitTaskToAnotherJob: async () =>
      !(await job.submitTaskToAnotherJob(nowhere, { a: 1 }, 'failed', [])).success,
  });
  await calls<TaskFile>('TaskFile', {
    name: () => file.name === 'task',
    extension: () => file.extension === 'txt',
    base64Data: () => file.base64Data !== '',
  });
  await calls<SubTaskOptions>('SubTaskOptions', {
    job_variables: async () => !(await job.addSubTasks({ job_variables: [] })).success,
    run_immediately: () => !added.success,
    job_id: async () => !(await job.addSubTasks({ ...options, job_id: nowhere })).success,
    remote_device_id: async () => {
      const refused = await job.addSubTasks({ ...options, remote_device_id: 'x' });
      return !refused.success && refused.error.includes('remote_device_id');
    },
  });
  await calls<AddedSubTasks>('AddedSubTasks', {
    success: () => !added.success,
    inserted_ids: () => !('inserted_ids' in added),
    assignment_results: () => !('assignment_results' in added),
    error: () => added.error !== undefined,
  });
  const none: SubTask | undefined = listed.success ? listed.tasks[nowhere] : undefined;
  await calls<SubTask>('SubTask', {
    parent_task_id: () => none?.parent_task_id === undefined,
    comment: () => none?.comment === undefined,
    job_proof: () => none?.job_proof === undefined,
    timeout: () => none?.timeout === undefined,
    status: () => none?.status === undefined,
  });
}

export async function running(): Promise<void> {
  await working();
  await calls<AgentRun>('AgentRun', {
    attach: async () => {
      await agent.run.attach('names.txt', 'text');
      await agent.run.attach('names.bin', new Uint8Array(500_000));
      await agent.run.attach('names.json', { a: [1, 2] });
      const twice = await thrown(() => agent.run.attach('NAMES.txt', 'again'));
      const path = await thrown(() => agent.run.attach('../names.txt', 'text'));
      const wrong = await thrown(() => agent.run.attach('none', () => 1));
      const refused = [twice, path].every(
        (error) => error instanceof AgentError && error.code === 'attach_refused',
      );
      return refused && wrong instanceof TypeError;
    },
  });
  await calls<Omit<AttachOptions, keyof ActionOptions>>('AttachOptions', {
    contentType: async () => {
      const wrong = await thrown(() => agent.run.attach('typed', 'text', { contentType: 'text' }));
      await agent.run.attach('typed', 'text', { contentType: 'text/csv' });
      return wrong instanceof AgentError && wrong.code === 'invalid_call';
    },
  });
}

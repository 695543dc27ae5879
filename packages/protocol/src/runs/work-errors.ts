/** Failures of labels, pools, jobs and schedules, as rows of the error table. */
export const workErrors = {
  invalid_selector: { status: 400, message: 'The selector {selector} cannot be used: {problem}.' },
  invalid_labels: { status: 400, message: 'Field labels cannot be used: {problem}.' },
  too_few_devices: {
    status: 400,
    message:
      'The selector {selector} matches {free} free devices, but {wanted} are needed: {reason}. To wait for them, create a job (POST /api/v2/jobs).',
  },
  pool_not_found: { status: 404, message: 'You have no pool {name}.' },
  too_many_pools: {
    status: 409,
    message: 'You already have {limit} pools, the maximum: delete one first.',
  },
  invalid_inputs: { status: 400, message: 'The table of inputs cannot be used: it {problem}.' },
  job_key_conflict: {
    status: 400,
    message:
      'The key {key} was already used for a different job (project, devices or inputs differ). Use a new key for a new job.',
  },
  secret_in_job: {
    status: 400,
    message:
      'The parameters or inputs contain the value of a secret of the project, which would be stored in plain text. Leave it out: the code can read it with agent.secrets.get.',
  },
  too_many_tasks: {
    status: 429,
    message:
      'You would have more than {limit} waiting tasks. Send it again when some have started, or cancel a job.',
  },
  too_many_selectors: {
    status: 429,
    message:
      'Your waiting tasks would have more than {limit} different selectors. Use fewer, name devices with device_ids, or send it again when some jobs have started.',
  },
  work_bytes_exceeded: {
    status: 409,
    message:
      'The limit of {limit} bytes for the inputs, parameters, code and results of the jobs, schedules and launches of a user (PHALANX_MAX_WORK_MB) would be exceeded, so nothing was stored: delete jobs that have ended, or ask the operator to raise the limit.',
  },
  task_ended: {
    status: 409,
    message: 'Task {task_id} was already submitted, or no longer belongs to this run.',
  },
  job_not_found: { status: 404, message: 'Job {job_id} was not found.' },
  job_cancelled: { status: 409, message: 'Job {job_id} was cancelled, so it takes no more tasks.' },
  job_full: {
    status: 409,
    message: 'Job {job_id} would have more than {limit} tasks, the maximum: add them to another job.',
  },
  job_not_ended: { status: 409, message: 'Job {job_id} has not ended: cancel it first.' },
  invalid_cron: {
    status: 400,
    message: 'The cron expression {cron} in {time_zone} cannot be used: {problem}.',
  },
  schedule_not_found: { status: 404, message: 'Schedule {schedule_id} was not found.' },
  too_many_schedules: {
    status: 409,
    message: 'You already have {limit} schedules, the maximum: delete one first.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

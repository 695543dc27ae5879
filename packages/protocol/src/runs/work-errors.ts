/** Failures of labels, pools, jobs and schedules; rows of the one error table. */
export const workErrors = {
  invalid_selector: { status: 400, message: 'The selector {selector} cannot be used: {problem}.' },
  invalid_labels: { status: 400, message: 'Field labels cannot be used: {problem}.' },
  too_few_devices: {
    status: 400,
    message:
      'The selector {selector} finds {free} free phones, and {wanted} are wanted: {reason}. A job (POST /api/v2/jobs) waits for them.',
  },
  pool_not_found: { status: 404, message: 'You have no pool {name}.' },
  too_many_pools: {
    status: 409,
    message: 'You have {limit} pools, and more are not kept: delete one first.',
  },
  invalid_inputs: { status: 400, message: 'The table of inputs cannot be used: it {problem}.' },
  job_key_conflict: {
    status: 400,
    message:
      'The key {key} was already used for another job (other project, phones or inputs). Use a new key for a new job.',
  },
  secret_in_job: {
    status: 400,
    message:
      'The parameters or inputs hold a value of a secret of the project, and would be stored in clear. Leave it out: the code reads it by agent.secrets.get.',
  },
  too_many_tasks: {
    status: 429,
    message:
      'You would have more than {limit} tasks that wait. Send it again when some have begun, or cancel a job.',
  },
  too_many_selectors: {
    status: 429,
    message:
      'Tasks of yours would wait with more than {limit} different selectors. Use fewer, name phones by device_ids, or send it again when some jobs have begun.',
  },
  work_bytes_exceeded: {
    status: 409,
    message:
      'The inputs, parameters, code and results of the jobs, schedules and launches of a user may take {limit} bytes (PHALANX_MAX_WORK_MB), and nothing was stored beyond: delete jobs that have ended, or ask the operator for more.',
  },
  task_ended: {
    status: 409,
    message: 'Task {task_id} was submitted before, or is not of this run any more.',
  },
  job_not_found: { status: 404, message: 'Job {job_id} was not found.' },
  job_not_ended: { status: 409, message: 'Job {job_id} has not ended: cancel it first.' },
  invalid_cron: {
    status: 400,
    message: 'The times {cron} in {time_zone} cannot be used: {problem}.',
  },
  schedule_not_found: { status: 404, message: 'Schedule {schedule_id} was not found.' },
  too_many_schedules: {
    status: 409,
    message: 'You have {limit} schedules, and more are not kept: delete one first.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

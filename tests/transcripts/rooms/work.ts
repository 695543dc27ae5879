import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Section } from '../step.ts';

const addedTask = 'cccccccc-0000-4000-8000-000000000001';

/** Sections about jobs with their tasks, schedules and webhooks. */
export const workSections = (random: SeededRandom): Section[] => {
  const limit = 1 + random.below(3);
  const hour = random.below(24);
  const job = { automation_id: '$work', selector: 'job=rows', retries: 0 };
  const schedule = { automation_id: '$nightly', cron: `0 ${hour} * * *`, time_zone: 'Europe/Berlin' };
  const hook = { name: 'alerts', url: '$receiver', events: ['drift.found'] };
  return [
    {
      name: 'jobs',
      steps: [
        [
          'ann listDevices ?selector=serial=jobs',
          { keep: { worker: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        ['ann createProject', { body: { name: 'work' }, keep: { work: 'project.id' } }],
        ['ann writeFile $work', { body: { path: 'main.ts', content: 'console.log(1);\n' } }],
        ['ann createJob', { body: { ...job, inputs: [] } }],
        ['ann createJob', { body: { ...job, selector: 'nonsense' } }],
        ['ann createJob', { body: { ...job, automation_id: '$unknown' } }],
        ['ann createJob', { body: { ...job, inputs_text: 'row,row\n1,2\n' } }],
        ['bob createJob', { body: job }],
        ['reader createJob', { body: job }],
        [
          'ann createJob',
          {
            body: { ...job, inputs_text: 'row,word\n1,"salt, fine"\n', key: 'rows' },
            keep: { job: 'job.id' },
          },
        ],
        ['ann createJob', { body: { ...job, inputs_text: 'row,word\n1,"salt, fine"\n', key: 'rows' } }],
        ['ann createJob', { body: { ...job, inputs: [{ row: 3 }], key: 'rows' } }],
        // No phone has matched before, so that all replies say that it waits.
        ['ann putDeviceLabels $worker', { body: { labels: { job: 'rows' } } }],
        [
          'ann listJobTasks $job ?status=running',
          { keep: { task_run: 'tasks.0.run_id', task: 'tasks.0.id' }, until: ['tasks.0.run_id'] },
        ],
        ['ann getDevice $worker', { until: ['device.state', 'busy'] }],
        'ann getJob $job',
        'bob getJob $job',
        'ann getJob $unknown',
        'ann deleteJob $job',
        ['ann callRunTasks $task_run', { body: { call: 'current' } }],
        [
          'ann callRunTasks $task_run',
          {
            body: {
              call: 'submit',
              task_id: '$task',
              status: 'success',
              is_final: true,
              data: '{"price":3}',
            },
          },
        ],
        [
          'ann callRunTasks $task_run',
          {
            body: {
              call: 'add',
              tasks: [{ id: addedTask, input: '{"row":2}' }],
            },
          },
        ],
        [
          'ann callRunTasks $task_run',
          { body: { call: 'next', after: '$task' }, keep: { next: 'tasks.0.id' } },
        ],
        ['ann callRunTasks $task_run', { body: { call: 'list', ids: [addedTask] } }],
        ['ann callRunTasks $task_run', { body: { call: 'dance' } }],
        ['ann callRunTasks $unknown', { body: { call: 'current' } }],
        ['bob callRunTasks $task_run', { body: { call: 'current' } }],
        [
          'ann callRunTasks $task_run',
          {
            body: {
              call: 'submit',
              task_id: '$next',
              status: 'failed',
              is_final: true,
              data: '{"reason":"none left"}',
            },
          },
        ],
        'ann cancelJob $job',
        async (stage) =>
          stage.host.end(stage.valueOf('task_run'), 'stopped', {
            started_at: stage.now(),
            ended_at: stage.now(),
          }),
        ['ann getJob $job', { until: ['job.tasks.running', 0] }],
        `ann listJobTasks $job ?limit=${limit}`,
        'ann listJobTasks $job',
        'bob listJobTasks $job',
        'ann exportJobResults $job ?format=csv',
        'ann exportJobResults $job ?format=jsonl',
        'ann exportJobResults $job ?format=xml',
        'bob exportJobResults $job',
        'bob resumeJob $job',
        [
          'ann createJob',
          { body: { ...job, selector: 'serial=nowhere', priority: 3 }, keep: { waiting: 'job.id' } },
        ],
        'bob cancelJob $waiting',
        'ann cancelJob $waiting',
        'ann resumeJob $waiting',
        `ann listJobs ?open=true&automation_id=$work`,
        'ann cancelJob $waiting',
        'bob deleteJob $waiting',
        'ann deleteJob $waiting',
        'ann getJob $waiting',
        `ann listJobs ?automation_id=$work&limit=${limit}`,
        'bob listJobs',
      ],
    },
    {
      name: 'schedules',
      steps: [
        ['ann createProject', { body: { name: 'nightly' }, keep: { nightly: 'project.id' } }],
        ['ann writeFile $nightly', { body: { path: 'main.ts', content: 'console.log(1);\n' } }],
        `ann listCronTimes ?cron=30 ${hour} * * 1&time_zone=Europe/Berlin`,
        'ann listCronTimes ?cron=61 * * * *&time_zone=Europe/Berlin',
        'ann listCronTimes ?cron=0 2 * * *&time_zone=Atlantis',
        [
          'ann createSchedule',
          { body: { ...schedule, selector: 'serial=nowhere' }, keep: { schedule: 'schedule.id' } },
        ],
        ['ann createSchedule', { body: { ...schedule, cron: 'often', selector: 'serial=nowhere' } }],
        ['ann createSchedule', { body: { ...schedule, selector: 'nonsense' } }],
        ['bob createSchedule', { body: { ...schedule, selector: 'serial=nowhere' } }],
        'ann getSchedule $schedule',
        'bob getSchedule $schedule',
        'ann getSchedule $unknown',
        ['ann changeSchedule $schedule', { body: { paused: true, name: 'every night' } }],
        ['ann changeSchedule $schedule', { body: { cron: '* *' } }],
        ['bob changeSchedule $schedule', { body: { paused: false } }],
        `ann listSchedules ?limit=${limit}&automation_id=$nightly`,
        'bob listSchedules',
        ['ann runSchedule $schedule', { keep: { scheduled: 'job.id' } }],
        'bob runSchedule $schedule',
        `ann listScheduleTurns $schedule ?limit=${limit}`,
        'bob listScheduleTurns $schedule',
        'ann cancelJob $scheduled',
        'bob deleteSchedule $schedule',
        'ann deleteSchedule $schedule',
        'ann deleteSchedule $schedule',
      ],
    },
    {
      name: 'webhooks',
      steps: [
        ['ann createWebhook', { body: hook, keep: { webhook: 'webhook.id' } }],
        ['ann createWebhook', { body: { ...hook, name: 'keys', signature: 'v1a', paused: true } }],
        ['ann createWebhook', { body: { ...hook, url: 'ftp://receiver.example/' } }],
        ['ann createWebhook', { body: { ...hook, url: 'http://127.0.0.3/' } }],
        ['ann createWebhook', { body: { ...hook, events: ['rain'] } }],
        ['reader createWebhook', { body: hook }],
        'ann getWebhook $webhook',
        'bob getWebhook $webhook',
        'ann getWebhook $unknown',
        ['ann changeWebhook $webhook', { body: { name: 'prices', not_ready_minutes: 5 } }],
        ['ann changeWebhook $webhook', { body: { failing_percent: 200 } }],
        ['bob changeWebhook $webhook', { body: { paused: true } }],
        `ann listWebhooks ?limit=${limit}`,
        'bob listWebhooks',
        'ann rotateWebhookSecret $webhook',
        'bob rotateWebhookSecret $webhook',
        ['ann testWebhook $webhook', { keep: { delivery: 'delivery.id' } }],
        'bob testWebhook $webhook',
        ['ann listWebhookDeliveries $webhook', { until: ['deliveries.0.status', 'delivered'] }],
        'bob listWebhookDeliveries $webhook',
        'ann replayWebhookDelivery $webhook $delivery',
        'ann replayWebhookDelivery $webhook $unknown',
        'bob replayWebhookDelivery $webhook $delivery',
        [
          `ann listWebhookDeliveries $webhook ?limit=${limit}`,
          { until: ['deliveries.0.status', 'delivered'] },
        ],
        ['ann changeWebhook $webhook', { body: { paused: true } }],
        'ann testWebhook $webhook',
        'bob deleteWebhook $webhook',
        'ann deleteWebhook $webhook',
        'ann deleteWebhook $webhook',
      ],
    },
  ];
};

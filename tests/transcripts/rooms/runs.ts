import { wireStepLevel } from '@phalanx/protocol';

import { jpegBytes } from '../../../apps/server/src/testing/records/record-reports.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Stage } from '../stage.ts';
import type { Section, Step } from '../step.ts';

/** Makes the host report the end of a run. */
const end =
  (
    run: string,
    status: 'completed' | 'failed',
    error: { code: string; message: string } | null = null,
  ): Step =>
  async (stage) => {
    const now = stage.now();
    await stage.host.end(stage.valueOf(run), status, { error, started_at: now, ended_at: now });
  };

/** Reports lines of a log and two steps, the second of which fails. */
async function tellLogAndSteps(stage: Stage): Promise<void> {
  const runId = stage.valueOf('run');
  const now = stage.now();
  const steps = [
    { step: 1, name: 'tap', target: '"Pay"', outcome: 'ok', duration_ms: 120 },
    {
      step: 2,
      name: 'waitForId',
      target: 'total',
      outcome: 'wait_timeout',
      message: 'Waited',
      duration_ms: 900,
    },
  ];
  stage.host.buffer(runId, [
    [now, 0, 1, 'begins'],
    [now, 1, 2, 'milk is short'],
    ...steps.map((one, at): [number, number, number, string] => [
      now,
      wireStepLevel,
      3 + at,
      JSON.stringify(one),
    ]),
    [now, 2, 5, 'no milk'],
  ]);
  stage.host.sendLogs(runId);
  await stage.host.logsStored(runId);
}

const phoneOf = (serial: string, name: string): Step => [
  `ann listDevices ?selector=serial=${serial}`,
  { keep: { [name]: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
];

/** Sections about launches, runs, their logs, files and films, and statistics. */
export const runsSections = (random: SeededRandom): Section[] => {
  const limit = 1 + random.below(3);
  const by = random.pick(['automation', 'device', 'day', 'reason', 'pool']);
  const level = random.pick(['warn', 'error', 'info']);
  const launchId = 'aaaaaaaa-0000-4000-8000-00000000000';
  const start = { automationId: '$checkout', command: 'start' };
  const direct = { device_id: '$direct_phone', command: 'start', code: 'console.log(1);' };
  return [
    {
      name: 'launches of a project',
      steps: [
        phoneOf('runs', 'runner'),
        ['ann createProject', { body: { name: 'checkout' }, keep: { checkout: 'project.id' } }],
        ['ann launchAutomation', { body: { ...start, device_ids: ['$runner'] } }],
        ['ann writeFile $checkout', { body: { path: 'main.ts', content: 'console.log("begins");\n' } }],
        [
          'ann writeFile $checkout',
          {
            body: {
              path: 'parameters.schema.json',
              content: '{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}',
            },
          },
        ],
        ['ann launchAutomation', { body: { ...start, device_ids: ['$runner'] } }],
        [
          'ann launchAutomation',
          { body: { ...start, device_ids: ['$runner'], automationParameters: { count: 'x' } } },
        ],
        [
          'ann launchAutomation',
          { body: { ...start, device_ids: ['$unknown'], automationParameters: { count: 1 } } },
        ],
        [
          'ann launchAutomation',
          { body: { ...start, selector: 'serial=none', count: 2, automationParameters: { count: 1 } } },
        ],
        ['ann launchAutomation', { body: { ...start, automationParameters: { count: 1 } } }],
        ['ann launchAutomation', { body: { ...start, automationId: '$unknown', device_ids: ['$runner'] } }],
        ['bob launchAutomation', { body: { ...start, device_ids: ['$runner'] } }],
        ['reader launchAutomation', { body: { ...start, device_ids: ['$runner'] } }],
        [
          'ann launchAutomation',
          {
            body: {
              ...start,
              launch_id: `${launchId}1`,
              device_ids: ['$runner'],
              automationParameters: { count: 1 },
              jobVariables: { night: true },
            },
            keep: { run: 'devices.0.run_id' },
          },
        ],
        [
          'ann launchAutomation',
          {
            body: {
              ...start,
              launch_id: `${launchId}1`,
              device_ids: ['$runner'],
              automationParameters: { count: 1 },
              jobVariables: { night: true },
            },
          },
        ],
        ['ann launchAutomation', { body: { ...start, launch_id: `${launchId}1`, device_ids: ['$runner'] } }],
        [
          'ann launchAutomation',
          { body: { ...start, device_ids: ['$runner'], automationParameters: { count: 2 } } },
        ],
        ['ann getDevice $runner', { until: ['device.state', 'busy'] }],
        ['ann getRun $run', { until: ['run.status', 'running'] }],
        'bob getRun $run',
        'ann getRun $unknown',
        'ann runCode $run',
        'bob runCode $run',
        tellLogAndSteps,
        [
          'ann automationLogs',
          { body: { device_id: '$runner', automation_ids: ['$checkout'] }, keep: { entry: 'logs.0.id' } },
        ],
        [
          'ann automationLogs',
          { body: { device_id: '$runner', automation_ids: ['$checkout'], from: '$entry' } },
        ],
        ['ann automationLogs', { body: { device_id: '$unknown', automation_ids: ['$checkout'] } }],
        ['bob automationLogs', { body: { device_id: '$runner', automation_ids: ['$checkout'] } }],
        'ann runLogs $run',
        `ann runLogs $run ?levels=${level}&limit=${limit}`,
        ['ann runLogs $run ?limit=1', { keep: { restOfLog: 'next_cursor' } }],
        'ann runLogs $run ?from=$restOfLog',
        'ann runLogs $run ?search=milk',
        `ann runLogs $run ?last=${limit}`,
        'ann runLogs $run ?levels=loud',
        'bob runLogs $run',
        `ann runTrace $run ?limit=${limit}`,
        'bob runTrace $run',
        end('run', 'failed', { code: 'uncaught_error', message: 'no milk' }),
        ['ann getRun $run', { until: ['run.status', 'failed'] }],
        ['ann getDevice $runner', { until: ['device.state', 'ready'] }],
        'ann stopRun $run',
        ['ann launchAutomation', { body: { ...start, device_ids: ['$runner'], command: 'stop' } }],
        [
          'ann launchAutomation',
          {
            body: { ...start, selector: 'serial=runs', automationParameters: { count: 3 }, film: true },
            keep: { stopped_run: 'devices.0.run_id' },
          },
        ],
        'bob stopRun $stopped_run',
        'ann stopRun $stopped_run',
        ['ann getRun $stopped_run', { until: ['run.status', 'stopped'] }],
        `ann listRuns ?automation_id=$checkout&limit=${limit}&total=true`,
        ['ann listRuns ?automation_id=$checkout&limit=1', { keep: { olderRuns: 'next_cursor' } }],
        'ann listRuns ?automation_id=$checkout&limit=1&cursor=$olderRuns',
        'ann listRuns ?automation_id=$checkout&status=failed',
        'ann listRuns ?device_id=$runner&search=milk',
        `ann listRuns ?launch_id=${launchId}1`,
        'ann listRuns ?status=nonsense',
        'bob listRuns ?automation_id=$checkout',
        `ann readStats ?by=${by}&automation_id=$checkout`,
        'ann readStats ?by=nonsense',
        'ann readStats ?selector=serial=runs&days=7',
        'bob readStats',
        `ann exportStats ?by=${by}&automation_id=$checkout`,
        'ann exportStats ?selector=nonsense',
      ],
    },
    {
      name: 'launches of code',
      steps: [
        phoneOf('direct', 'direct_phone'),
        [
          'ann launchDirectAutomation',
          { body: { ...direct, launch_id: `${launchId}4`, code: 'const = 1;' } },
        ],
        ['ann launchDirectAutomation', { body: { ...direct, launch_id: 'nonsense' } }],
        [
          'ann launchDirectAutomation',
          { body: { ...direct, launch_id: `${launchId}5`, device_id: '$unknown' } },
        ],
        ['bob launchDirectAutomation', { body: { ...direct, launch_id: `${launchId}6` } }],
        [
          'ann launchDirectAutomation',
          {
            body: { ...direct, launch_id: `${launchId}2`, name: 'try.ts' },
            keep: { direct_run: 'devices.0.run_id' },
          },
        ],
        ['ann launchDirectAutomation', { body: { ...direct, launch_id: `${launchId}2`, name: 'try.ts' } }],
        [
          'ann launchDirectAutomation',
          { body: { ...direct, launch_id: `${launchId}2`, code: 'console.log(2);' } },
        ],
        'ann runCode $direct_run',
        'ann runFiles $direct_run',
        [
          'ann putRunFile $direct_run 019a0000-0000-7000-8000-000000000001 ?name=report.csv&content_type=text/csv',
          { raw: 'row,price\n1,3\n', contentType: 'application/octet-stream' },
        ],
        [
          'ann putRunFile $direct_run 019a0000-0000-7000-8000-000000000001 ?name=report.csv&content_type=text/csv',
          { raw: 'row,price\n1,3\n', contentType: 'application/octet-stream' },
        ],
        [
          'ann putRunFile $unknown 019a0000-0000-7000-8000-000000000002 ?name=report.csv&content_type=text/csv',
          { raw: 'row,price\n', contentType: 'application/octet-stream' },
        ],
        [
          'ann putRunFile $direct_run 019a0000-0000-7000-8000-000000000003 ?name=report.csv',
          { raw: 'x', contentType: 'text/plain' },
        ],
        'ann runFiles $direct_run',
        'bob runFiles $direct_run',
        'ann readRunFile $direct_run report.csv',
        ['ann readRunFile $direct_run report.csv', { headers: { range: 'bytes=4-8' } }],
        ['ann readRunFile $direct_run report.csv', { headers: { range: 'bytes=400-' } }],
        'ann readRunFile $direct_run other.csv',
        'bob readRunFile $direct_run report.csv',
        [
          'ann putFilmPart $direct_run 019a0000-0000-7000-8000-000000000011 ?number=1&taken_at=1000&width=540&height=1200',
          { raw: jpegBytes(20), contentType: 'image/jpeg' },
        ],
        [
          'ann putFilmPart $direct_run 019a0000-0000-7000-8000-000000000012 ?number=2&taken_at=1000&width=540&height=1200',
          { raw: 'no picture', contentType: 'image/jpeg' },
        ],
        [
          'bob putFilmPart $direct_run 019a0000-0000-7000-8000-000000000013 ?number=2&taken_at=1000&width=540&height=1200',
          { raw: jpegBytes(20), contentType: 'image/jpeg' },
        ],
        `ann runFilm $direct_run ?limit=${limit}`,
        'bob runFilm $direct_run',
        ['ann readFilmPart $direct_run 1', { headers: { range: 'bytes=0-0' } }],
        'ann readFilmPart $direct_run 9',
        ['ann launchDirectAutomation', { body: { ...direct, launch_id: `${launchId}2`, command: 'stop' } }],
        ['ann getRun $direct_run', { until: ['run.status', 'stopped'] }],
        ['ann getDevice $direct_phone', { until: ['device.state', 'ready'] }],
        [
          'ann launchDirectAutomation',
          { body: { ...direct, launch_id: `${launchId}3` }, keep: { last_run: 'devices.0.run_id' } },
        ],
        ['bob stopAllAutomations', { body: { device_id: '$direct_phone' } }],
        ['ann stopAllAutomations', { body: { device_id: '$direct_phone' } }],
        ['ann stopAllAutomations', { body: { device_id: '$direct_phone' } }],
        ['ann stopAllAutomations', { body: {} }],
        `ann listRuns ?device_id=$direct_phone&limit=${limit}`,
      ],
    },
  ];
};

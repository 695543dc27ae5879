import { IncreasingIds } from '../../../apps/server/src/kernel/uuid-v7.ts';
import {
  jpegBytes,
  recordReport,
  screenReport,
  sendReport,
} from '../../../apps/server/src/testing/records/record-reports.ts';
import { madeScreen } from '../../../apps/server/src/testing/records/replay-scene.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Section, Step } from '../step.ts';

const ids = new IncreasingIds();
const app = { package: 'com.shop', activity: 'com.shop.CheckoutActivity', version: '1.2', language: 'de-DE' };

interface Met {
  type?: 'outOfSteps' | 'debug' | 'crash';
  tag?: string | null;
}

/** Reports a record with one screen, whose captures are requested as `<record>Screen`. */
const meet =
  (record: string, { type = 'outOfSteps', tag = null }: Met = {}): Step =>
  async (stage) => {
    const screen = screenReport({
      timestamp: stage.now(),
      calls: [{ name: 'input.tap', x: 540, y: 1200 }],
      screenshot:
        type === 'debug' ? { width: 540, height: 1212, original_width: 1080, original_height: 2424 } : null,
    });
    const report = recordReport(stage.valueOf('met_run'), {
      record_id: ids.next(stage.now()),
      type,
      tag,
      screens: [screen],
      app,
    });
    stage.keep(record, report.record_id);
    stage.keep(`${record}Screen`, screen.screen_id);
    await sendReport(stage.host, report);
  };

const tree = (record: string, screen: number): Step => [
  `ann putCapture $${record} $${record}Screen tree`,
  { raw: JSON.stringify(madeScreen(screen)), contentType: 'application/json' },
];

const groupOf = (record: string, group: string): Step => [
  `ann groupOfRecord $${record}`,
  { keep: { [group]: 'group_id' }, until: ['group_id'] },
];

/** Sections about records, groups, proposals, drift and replays. */
export const evidenceSections = (random: SeededRandom): Section[] => {
  const limit = 1 + random.below(3);
  const screens = random.shuffled([1, 2, 3]);
  const [one = 1, other = 2] = screens;
  const records = 'ann outOfSteps ?automation_id=$proof';
  const replay = 'ann startReplay $proof';
  return [
    {
      name: 'records, groups and replays',
      steps: [
        [
          'ann listDevices ?selector=serial=evidence',
          { keep: { witness: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        ['ann createProject', { body: { name: 'proof' }, keep: { proof: 'project.id' } }],
        ['ann writeFile $proof', { body: { path: 'main.ts', content: 'console.log("unknown");\n' } }],
        ['ann commit $proof', { body: { message: 'knows nothing' } }],
        // Replay of the commit. A later replay might contain more about the screens.
        ['ann listReplays $proof', { until: ['replays.0.status', 'done'] }],
        records,
        [
          'ann launchAutomation',
          {
            body: { automationId: '$proof', command: 'start', device_ids: ['$witness'] },
            keep: { met_run: 'devices.0.run_id' },
          },
        ],
        meet('first'),
        [`ann putCapture $first $firstScreen tree`, { raw: '{', contentType: 'application/json' }],
        ['ann putCapture $first $firstScreen tree', { raw: 'x', contentType: 'image/jpeg' }],
        ['bob putCapture $first $firstScreen tree', { raw: '{}', contentType: 'application/json' }],
        ['ann putCapture $first $unknown tree', { raw: '{}', contentType: 'application/json' }],
        tree('first', one),
        groupOf('first', 'group'),
        meet('second'),
        tree('second', one),
        groupOf('second', 'sameGroup'),
        meet('third'),
        tree('third', other),
        groupOf('third', 'otherGroup'),
        meet('fourth', { type: 'debug', tag: 'prices' }),
        tree('fourth', other),
        [
          'ann putCapture $fourth $fourthScreen screenshot',
          { raw: jpegBytes(20), contentType: 'image/jpeg' },
        ],
        meet('fifth', { type: 'crash' }),
        async (stage) =>
          stage.host.end(stage.valueOf('met_run'), 'completed', {
            started_at: stage.now(),
            ended_at: stage.now(),
          }),
        ['ann getRun $met_run', { until: ['run.status', 'completed'] }],
        [records, { until: ['result.out_of_steps_id'] }],
        'ann outOfSteps ?cursor=$first&automation_id=$proof',
        'ann outOfSteps ?cursor=$second&automation_id=$proof',
        'ann outOfSteps ?cursor=$third&automation_id=$proof',
        'ann outOfSteps ?cursor=$fourth&automation_id=$proof',
        'ann outOfSteps ?cursor=$fourth&automation_id=$proof&type=outOfSteps',
        'ann outOfSteps ?before_cursor=$first&automation_id=$proof',
        'ann outOfSteps ?after_cursor=$fifth&automation_id=$proof',
        'ann outOfSteps ?before_cursor=$third&automation_id=$proof',
        'ann outOfSteps ?after_cursor=$second&automation_id=$proof',
        'ann outOfSteps ?type=debug&tag=prices&automation_id=$proof',
        'ann outOfSteps ?type=crash&automation_id=$proof',
        'ann outOfSteps ?status=solved&automation_id=$proof',
        'ann outOfSteps ?partial=true&device_id=$witness',
        'ann outOfSteps ?run_id=$met_run&added_after=2030-01-01',
        'ann outOfSteps ?run_id=$met_run&added_before=2030-01-01',
        'ann outOfSteps ?cursor=$unknown',
        'ann outOfSteps ?type=nonsense',
        'bob outOfSteps ?automation_id=$proof',
        'ann outOfStepsTags ?automation_id=$proof',
        'ann outOfStepsTags',
        ['ann markOutOfSteps $fifth', { body: { status: 'solved' } }],
        ['ann markOutOfSteps $fifth', { body: { status: 'skipped' } }],
        ['ann markOutOfSteps $unknown', { body: { status: 'solved' } }],
        ['bob markOutOfSteps $fifth', { body: { status: 'solved' } }],
        ['reader markOutOfSteps $fifth', { body: { status: 'solved' } }],
        ['ann saveOutOfSteps $fifth', { body: { saved: true } }],
        ['ann saveOutOfSteps $fifth', { body: { saved: 'yes' } }],
        ['bob saveOutOfSteps $fifth', { body: { saved: true } }],
        'ann outOfSteps ?cursor=$fifth&automation_id=$proof',
        [
          'ann outOfSteps ?cursor=$first&automation_id=$proof',
          { keep: { address: 'result.screens.0.uiUrl' } },
        ],
        'nobody readCapture $address',
        ['nobody readCapture $address', { headers: { range: 'bytes=0-9' } }],
        ['nobody readCapture $address', { headers: { range: 'bytes=1000000-' } }],
        'nobody readCapture $first $firstScreen tree ?expires=1&signature=abc',
        'nobody readCapture $first $firstScreen tree',
        `ann listGroups ?automation_id=$proof&limit=${limit}`,
        'ann listGroups ?automation_id=$proof&sort=records&status=open',
        ['ann listGroups ?automation_id=$proof&limit=1', { keep: { otherGroups: 'next_cursor' } }],
        'ann listGroups ?automation_id=$proof&limit=1&cursor=$otherGroups',
        'bob listGroups',
        'ann getGroup $group',
        'bob getGroup $group',
        'ann getGroup $unknown',
        `ann listGroupRecords $group ?limit=${limit}`,
        'ann groupOfRecord $unknown',
        ['ann changeGroup $group', { body: { status: 'solved', mark_records: true } }],
        ['ann changeGroup $group', { body: { status: 'lost' } }],
        ['ann changeGroup $group', { body: { assignee_id: '$ann' } }],
        ['ann changeGroup $group', { body: { solved_in: 'f00d' } }],
        ['bob changeGroup $group', { body: { status: 'open' } }],
        'ann undoGroupChange $group',
        'ann undoGroupChange $group',
        ['ann mergeGroups $group', { body: { group_ids: ['$otherGroup'] } }],
        ['ann mergeGroups $group', { body: { group_ids: ['$unknown'] } }],
        'ann getGroup $group',
        ['ann splitGroup $group', { body: { record_ids: ['$third'] }, keep: { split: 'group.id' } }],
        ['ann splitGroup $group', { body: { record_ids: ['$unknown'] } }],
        ['ann proposeFix $group', { body: { kind: 'state', state: 'checkout' } }],
        ['ann proposeFix $unknown', { body: {} }],
        'bob deleteGroupScreen $group nonsense',
        ['ann getGroup $split', { keep: { kept_screen: 'kept_screens.0' } }],
        'ann deleteGroupScreen $split $kept_screen',
        'ann deleteGroupScreen $split $kept_screen',
        'ann getDrift $proof',
        'bob getDrift $proof',
        ['bob startReplay $proof', { body: { set: 'open' } }],
        [replay, { body: { set: 'open' }, keep: { replay: 'replay.id' } }],
        ['ann getReplay $replay', { until: ['replay.status', 'done'] }],
        `ann listReplayVerdicts $replay ?limit=${limit}`,
        'ann listReplayVerdicts $replay ?changed=true',
        'ann listReplayVerdicts $unknown',
        [
          replay,
          {
            body: { set: 'all', files: [{ path: 'main.ts', content: 'console.log("cart");\n' }] },
            keep: { draft: 'replay.id' },
          },
        ],
        ['ann getReplay $draft', { until: ['replay.status', 'done'] }],
        'ann listReplayVerdicts $draft',
        [replay, { body: { set: 'all', files: [{ path: 'main.ts', content: 'const = 1;' }] } }],
        [replay, { body: { set: 'all', commit: 'f00d' } }],
        [replay, { body: { set: 'some' } }],
        'ann stopReplay $replay',
        'ann stopReplay $unknown',
        'bob getReplay $replay',
        `ann listReplays $proof ?limit=${limit}`,
        'bob listReplays $proof',
        'bob deleteOutOfSteps $first',
        'ann deleteOutOfSteps $first',
        'ann deleteOutOfSteps $first',
        [records, { until: ['result.out_of_steps_id'] }],
      ],
    },
  ];
};

import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Section } from '../step.ts';

/** Sections about manual control of phones: leases, touches, screens, files and live pictures. */
export const controlSections = (random: SeededRandom): Section[] => {
  const x = random.below(1000);
  const file = {
    upload_id: 'bbbbbbbb-0000-4000-8000-000000000001',
    name: 'notes.txt',
    part: 0,
    is_last: true,
  };
  return [
    {
      name: 'a phone by hand',
      steps: [
        [
          'ann listDevices ?selector=serial=control',
          { keep: { held: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        ['ann leaseDevice $held', { body: { duration_ms: 60_000 }, keep: { lease: 'lease.lease_id' } }],
        ['ann leaseDevice $held', { body: { lease_id: '$lease' } }],
        ['ann leaseDevice $held', { body: { duration_ms: -1 } }],
        ['ann leaseDevice $unknown', { body: {} }],
        ['bob leaseDevice $held', { body: {} }],
        ['reader leaseDevice $held', { body: {} }],
        ['admin leaseDevice $held', { body: {} }],
        ['ann getDevice $held', { until: ['device.lease.user.name', 'ann'] }],
        ['ann deviceInput $held ?lease_id=$lease', { body: { type: 'tap', x, y: 1200 } }],
        ['ann deviceInput $held ?lease_id=$lease', { body: { type: 'text', text: 'milk' } }],
        ['ann deviceInput $held ?lease_id=$lease', { body: { type: 'swipe', from_x: x } }],
        ['ann deviceInput $held ?lease_id=$unknown', { body: { type: 'key', key_code: 3 } }],
        ['bob deviceInput $held', { body: { type: 'key', key_code: 3 } }],
        'ann readDeviceClipboard $held ?lease_id=$lease',
        'bob readDeviceClipboard $held',
        ['ann sendFileToDevice $held ?lease_id=$lease', { body: { ...file, base64: 'SGVsbG8K' } }],
        ['ann sendFileToDevice $held', { body: { ...file, base64: '?' } }],
        ['bob sendFileToDevice $held', { body: { ...file, base64: 'SGVsbG8K' } }],
        ['ann deviceScreen $held ?view=compact', { keep: { screen: 'screen.screen_id' } }],
        'ann deviceScreen $held ?view=diff&since=$screen',
        'ann deviceScreen $held ?view=diff&since=ffffffff-ffffff',
        'ann deviceScreen $held ?view=diff&since=nonsense',
        'ann deviceScreen $held',
        'bob deviceScreen $held',
        'ann inspectNode $held $screen 1',
        'ann inspectNode $held $screen 99',
        'ann inspectNode $held ffffffff-ffffff 1',
        'bob inspectNode $held $screen 1',
        ['ann deviceAct $held', { body: { steps: [{ type: 'key', key: 'home' }] } }],
        ['ann deviceAct $held', { body: { screen_id: '$screen', steps: [{ type: 'tap', on: 1 }] } }],
        ['ann deviceAct $held', { body: { screen_id: 'ffffffff-ffffff', steps: [{ type: 'tap', on: 1 }] } }],
        ['ann deviceAct $held', { body: { steps: [] } }],
        ['bob deviceAct $held', { body: { steps: [{ type: 'key', key: 'home' }] } }],
        'ann readLeaseCode $held ?lease_id=$lease',
        'bob readLeaseCode $held',
        'ann deviceScreenshot $held',
        'bob deviceScreenshot $held',
        'ann deviceHistory $held',
        'bob deviceHistory $held',
        'ann deviceApps $held',
        'bob deviceApps $held',
        // Live views are WebSockets, which this transcript does not open.
        'ann deviceLive $held',
        'bob deviceLive $held',
        'ann devicesLive',
        'ann devicesLive ?selector=nonsense',
        'bob endDeviceLease $held',
        'ann endDeviceLease $held ?lease_id=$unknown',
        'ann endDeviceLease $held ?lease_id=$lease',
        'ann endDeviceLease $held',
        ['ann getDevice $held', { until: ['device.lease', null] }],
        'ann readLeaseCode $held',
      ],
    },
  ];
};

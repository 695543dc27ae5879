import { TestHost } from '../../../apps/server/src/testing/test-host.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Stage } from '../stage.ts';
import type { Section } from '../step.ts';

/** Connects a host of Ann's with a phone, and disconnects it. */
async function comeAndGo(stage: Stage): Promise<void> {
  const hostId = '0d000000-0000-4000-8000-000000000004';
  stage.keep('passing', hostId);
  const token = stage.valueOf('annsToken');
  const host = await TestHost.connected({ url: stage.nextUrl(), token, serials: ['passing'], hostId });
  await host.cut();
}

/** Sections about phones, hosts, labels, pools, pairing and sharing. */
export const fleetSections = (random: SeededRandom): Section[] => {
  const limit = 1 + random.below(3);
  const rack = random.pick(['one', 'two', 'three']);
  const role = random.pick(['view', 'launch']);
  return [
    {
      name: 'phones and hosts',
      steps: [
        'ann listHosts',
        `ann listHosts ?limit=${limit}`,
        'bob listHosts',
        [
          'ann listDevices ?search=fleet',
          { keep: { phone: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        `ann listDevices ?selector=model~Pixel,serial=fleet&limit=${limit}`,
        `ann listDevices ?host_id=$annsHost&search=labels`,
        'ann listDevices ?state=offline&search=fleet',
        'ann listDevices ?selector=nonsense',
        'ann listDevices ?limit=many',
        'bob listDevices ?search=fleet',
        'nobody listDevices',
        ['ann getDevice $phone', { until: ['device.state', 'ready'] }],
        'bob getDevice $phone',
        'ann getDevice $unknown',
        ['ann renameDevice $phone', { body: { name: `shelf ${rack}` } }],
        ['bob renameDevice $phone', { body: { name: 'mine' } }],
        ['ann renameDevice $phone', { body: { name: 7 } }],
        ['ann getDevice $phone', { until: ['device.name', `shelf ${rack}`] }],
        'ann deleteDevice $phone',
        'ann startPairing $annsHost',
        ['ann startPairing $annsHost', { keep: { pairing: 'pairing.id' } }],
        'ann getPairing $annsHost $pairing',
        'ann getPairing $annsHost none',
        'bob startPairing $annsHost',
        'reader startPairing $annsHost',
        comeAndGo,
        [
          'ann listDevices ?search=passing',
          { keep: { gone: 'devices.0.device_id' }, until: ['devices.0.state', 'offline'] },
        ],
        'ann deviceScreen $gone',
        'ann deviceScreenshot $gone',
        'bob deleteDevice $gone',
        'ann deleteDevice $gone',
        'ann deleteDevice $gone',
      ],
    },
    {
      name: 'labels and pools',
      steps: [
        [
          'ann listDevices ?selector=serial=labels',
          { keep: { labelled: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        ['ann putDeviceLabels $labelled', { body: { labels: { rack, city: 'Berlin' } } }],
        ['ann putDeviceLabels $labelled', { body: { labels: { 'not a key': 'x' } } }],
        ['ann putDeviceLabels $unknown', { body: { labels: {} } }],
        ['bob putDeviceLabels $labelled', { body: { labels: {} } }],
        ['ann putHostLabels $annsHost', { body: { labels: { country: 'de' } } }],
        ['bob putHostLabels $annsHost', { body: { labels: { country: 'at' } } }],
        [`ann listDevices ?selector=rack=${rack},country=de`, { until: ['devices.0.device_id'] }],
        'ann listDevices ?selector=rack=none',
        ['ann putPool berlin', { body: { selector: 'city=Berlin' } }],
        ['ann putPool rack', { body: { selector: `rack=${rack},android>=14` } }],
        ['ann putPool broken', { body: { selector: 'rack' } }],
        ['reader putPool mine', { body: { selector: 'city=Berlin' } }],
        ['bob putPool berlin', { body: { selector: 'city=Berlin' } }],
        `ann listPools ?limit=${limit}`,
        'ann listPools',
        'bob listPools',
        'ann listDevices ?selector=pool=berlin',
        'ann listDevices ?selector=pool=none',
        'ann deletePool berlin',
        'ann deletePool berlin',
        'ann listDevices ?selector=pool=berlin',
      ],
    },
    {
      name: 'shared phones',
      steps: [
        [
          'ann listDevices ?selector=serial=shares',
          { keep: { shared_phone: 'devices.0.device_id' }, until: ['devices.0.state', 'ready'] },
        ],
        ['ann putDeviceMember $shared_phone $bob', { body: { role } }],
        ['ann putDeviceMember $shared_phone $bob', { body: { role: 'owner' } }],
        ['ann putDeviceMember $shared_phone $unknown', { body: { role } }],
        ['bob putDeviceMember $shared_phone $bob', { body: { role: 'launch' } }],
        ['ann putHostMember $annsHost $bob', { body: { role: 'view' } }],
        ['ann putHostMember $unknown $bob', { body: { role: 'view' } }],
        ['bob listShares ?state=waiting', { until: ['shares.1.kind'] }],
        `bob listShares ?limit=${limit}`,
        'bob listDevices ?selector=serial=shares',
        ['bob acceptShare', { body: { kind: 'device', id: '$shared_phone' } }],
        ['bob listDevices ?selector=serial=shares', { until: ['devices.0.device_id'] }],
        ['bob deviceScreenshot $shared_phone', {}],
        'bob listHosts',
        'ann listDeviceMembers $shared_phone',
        'bob listDeviceMembers $shared_phone',
        `ann listHostMembers $annsHost ?limit=${limit}`,
        'bob listHostMembers $unknown',
        'ann deleteDeviceMember $shared_phone $bob',
        'ann deleteDeviceMember $shared_phone $bob',
        'ann deleteHostMember $annsHost $bob',
        'ann deleteHostMember $annsHost $bob',
        ['bob listShares', { until: ['shares', []] }],
      ],
    },
  ];
};

import { describe, expect, it } from 'vitest';
import { parseDeviceList, troubleReason } from './device-list.ts';

const list = [
  'R58M123ABC             device usb:1-2 product:dm3q model:SM_S918B device:dm3q transport_id:7',
  '192.168.1.20:5555      offline transport_id:8',
  'emulator-5554          unauthorized transport_id:9',
  'HT1234                 authorizing usb:1-3 transport_id:10',
  'HT1235                 connecting usb:1-4 transport_id:11',
  'HT1236                 recovery usb:1-5 product:x model:y device:z transport_id:12',
  'HT1237                 sideload usb:1-6 transport_id:13',
  'HT1238                 bootloader usb:1-7 transport_id:14',
  'HT1239                 no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/tools/device.html] usb:1-8 transport_id:15',
  '(no serial number)     device usb:1-9 transport_id:16',
  'LNX0000                host transport_id:17',
  'HT1240                 somethingnew transport_id:18',
  'no transport           device usb:1-1',
  '',
].join('\n');

describe('the list of an adb server', () => {
  it('reads every state that adb knows and leaves out what it can not follow', () => {
    expect(
      parseDeviceList(list).map(({ serial, state, transportId }) => [serial, state, Number(transportId)]),
    ).toEqual([
      ['R58M123ABC', 'device', 7],
      ['192.168.1.20:5555', 'offline', 8],
      ['emulator-5554', 'unauthorized', 9],
      ['HT1234', 'connecting', 10],
      ['HT1235', 'connecting', 11],
      ['HT1236', 'recovery', 12],
      ['HT1237', 'sideload', 13],
      ['HT1238', 'bootloader', 14],
      ['HT1239', 'no_permissions', 15],
      ['(no serial number)', 'device', 16],
    ]);
  });

  it('reads the names of a phone', () => {
    expect(parseDeviceList(list)[0]).toMatchObject({
      usbPath: '1-2',
      product: 'dm3q',
      model: 'SM_S918B',
      device: 'dm3q',
    });
  });

  it('gives each state a reason that names the phone and says what to do', () => {
    const reasons = parseDeviceList(list).map((device) => [device.serial, troubleReason(device)] as const);
    for (const [serial, reason] of reasons) expect(reason).toContain(serial);
    expect(new Map(reasons).get('HT1239')).toContain('udev');
    expect(new Map(reasons).get('emulator-5554')).toContain('Allow USB debugging');
  });
});

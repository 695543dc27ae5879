import type { AndroidRelease, MakerProfile } from '../profiles.ts';

/** Identity of a phone, and its differences from other phones. */
export interface Identity {
  readonly serial: string;
  /** Sixteen hexadecimal digits, which Android generates on its first start after a factory reset. */
  readonly androidId: string;
  /** Boot ID of the kernel, for several Androids on one kernel. Undefined: each start gets a new one. */
  readonly bootId: string | undefined;
  readonly brand: string;
  readonly maker: MakerProfile;
  readonly release: AndroidRelease;
  readonly model: string;
  /** `ro.product.device`, a code name. */
  readonly device: string;
  readonly androidVersion: string;
  readonly sdkVersion: number;
}

/** Returns the system properties that drivers and people read. */
export function propertiesOf(identity: Identity): Map<string, string> {
  const { serial, brand, model, device, androidVersion, sdkVersion } = identity;
  const build = `${brand}/${device}/${device}:${androidVersion}/SIM.260101.001/1:user/release-keys`;
  return new Map([
    ['dev.bootcomplete', '1'],
    ['init.svc.bootanim', 'stopped'],
    ['persist.sys.locale', 'en-US'],
    ['persist.sys.timezone', 'UTC'],
    ['ro.boot.serialno', serial],
    ['ro.build.characteristics', identity.maker.display.width < 1000 ? 'tablet' : 'default'],
    ['ro.build.fingerprint', build],
    ['ro.build.type', 'user'],
    ['ro.build.version.release', androidVersion],
    ['ro.build.version.sdk', String(sdkVersion)],
    ['ro.build.version.security_patch', '2026-01-05'],
    ['ro.debuggable', '0'],
    ['ro.product.brand', brand],
    ['ro.product.cpu.abi', 'arm64-v8a'],
    ['ro.product.cpu.abilist', 'arm64-v8a,armeabi-v7a,armeabi'],
    ['ro.product.device', device],
    ['ro.product.locale', 'en-US'],
    ['ro.product.manufacturer', identity.maker.manufacturer],
    ['ro.product.model', model],
    ['ro.product.name', device],
    ['ro.secure', '1'],
    ['ro.serialno', serial],
    ['sys.boot_completed', '1'],
  ]);
}

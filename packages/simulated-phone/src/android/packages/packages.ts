export interface Package {
  readonly name: string;
  readonly versionCode: number;
  readonly versionName: string;
  readonly isSystem: boolean;
  /** That its manifest asks for. */
  readonly permissions?: readonly string[];
}

const systemPackages = [
  'android',
  'com.android.systemui',
  'com.android.shell',
  'com.android.providers.settings',
];

/** The package manager's list. */
export class Packages {
  readonly #packages = new Map<string, Package>();
  /** What is installed for the work profile alone, by name. */
  readonly #ofWorkProfile = new Map<string, Package>();
  readonly #permissions = new Map<string, Set<string>>();
  readonly #locales = new Map<string, string>();

  constructor(sdkVersion: number) {
    for (const name of systemPackages) {
      this.add({ name, versionCode: sdkVersion, versionName: String(sdkVersion), isSystem: true });
    }
  }

  /** Runtime permissions that were granted to a package. */
  permissionsOf(name: string): Set<string> {
    const known = this.#permissions.get(name) ?? new Set();
    this.#permissions.set(name, known);
    return known;
  }

  /** Language tags with commas between them; empty: as the phone has. */
  localesOf(name: string): string {
    return this.#locales.get(name) ?? '';
  }

  setLocales(name: string, tags: string): void {
    this.#locales.set(name, tags);
  }

  add(entry: Package): void {
    this.#packages.set(entry.name, entry);
  }

  addToWorkProfile(entry: Package): void {
    this.#ofWorkProfile.set(entry.name, entry);
  }

  findInWorkProfile(name: string): Package | undefined {
    return this.#ofWorkProfile.get(name);
  }

  find(name: string): Package | undefined {
    return this.#packages.get(name);
  }

  /** False when there is none of that name, or it belongs to the system. */
  remove(name: string): boolean {
    this.#permissions.delete(name);
    this.#locales.delete(name);
    return this.#packages.get(name)?.isSystem === false && this.#packages.delete(name);
  }

  list(): Package[] {
    return [...this.#packages.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Where the package manager says that an APK lies. */
export function apkPath({ name, isSystem }: Package): string {
  return isSystem ? `/system/app/${name}/base.apk` : `/data/app/~~c2ltdWxhdGVk==/${name}-cGhvbmU==/base.apk`;
}

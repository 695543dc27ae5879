export interface Package {
  readonly name: string;
  readonly versionCode: number;
  readonly versionName: string;
  readonly isSystem: boolean;
  /** Permissions that its manifest requests. */
  readonly permissions?: readonly string[];
}

const systemPackages = [
  'android',
  'com.android.systemui',
  'com.android.shell',
  'com.android.providers.settings',
];

export const mainUser = 0;
export const workProfile = 10;

/** Packages known to the package manager. */
export class Packages {
  /** Packages by user and name. */
  readonly #users = new Map<number, Map<string, Package>>([[mainUser, new Map()]]);
  readonly #permissions = new Map<string, Set<string>>();
  readonly #locales = new Map<string, string>();

  readonly #sdkVersion: number;

  constructor(sdkVersion: number) {
    this.#sdkVersion = sdkVersion;
    this.#addSystem(mainUser);
  }

  /** Adds Android itself, which every user has. */
  #addSystem(user: number): void {
    const versionCode = this.#sdkVersion;
    for (const name of systemPackages)
      this.add({ name, versionCode, versionName: String(versionCode), isSystem: true }, user);
  }

  /** Returns the runtime permissions granted to a package. */
  permissionsOf(name: string, user = mainUser): Set<string> {
    const key = `${user}:${name}`;
    const known = this.#permissions.get(key) ?? new Set();
    this.#permissions.set(key, known);
    return known;
  }

  /** Returns the IDs of the phone's users; those after the main one are work profiles. */
  listUsers(): number[] {
    return [...this.#users.keys()];
  }

  addUser(user: number): void {
    if (this.#users.has(user)) return;
    this.#users.set(user, new Map());
    this.#addSystem(user);
  }

  /** Returns language tags separated by commas; empty means the phone's languages. */
  localesOf(name: string): string {
    return this.#locales.get(name) ?? '';
  }

  setLocales(name: string, tags: string): void {
    this.#locales.set(name, tags);
  }

  add(entry: Package, user = mainUser): void {
    this.#users.get(user)?.set(entry.name, entry);
  }

  find(name: string, user = mainUser): Package | undefined {
    return this.#users.get(user)?.get(name);
  }

  /** Removes a package. Returns false if it does not exist or belongs to the system. */
  remove(name: string, user = mainUser): boolean {
    const packages = this.#users.get(user);
    this.#permissions.delete(`${user}:${name}`);
    if (user === mainUser) this.#locales.delete(name);
    return packages?.get(name)?.isSystem === false && packages.delete(name);
  }

  list(user = mainUser): Package[] {
    return [...(this.#users.get(user)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

/** Returns the path of an APK as the package manager reports it. */
export function apkPath({ name, isSystem }: Package): string {
  return isSystem ? `/system/app/${name}/base.apk` : `/data/app/~~c2ltdWxhdGVk==/${name}-cGhvbmU==/base.apk`;
}

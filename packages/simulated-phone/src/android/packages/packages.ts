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

export const mainUser = 0;
export const workProfile = 10;

/** The package manager's list. */
export class Packages {
  /** By user, then by name. */
  readonly #users = new Map<number, Map<string, Package>>([[mainUser, new Map()]]);
  readonly #permissions = new Map<string, Set<string>>();
  readonly #locales = new Map<string, string>();

  readonly #sdkVersion: number;

  constructor(sdkVersion: number) {
    this.#sdkVersion = sdkVersion;
    this.#addSystem(mainUser);
  }

  /** Android itself is there for every user. */
  #addSystem(user: number): void {
    const versionCode = this.#sdkVersion;
    for (const name of systemPackages)
      this.add({ name, versionCode, versionName: String(versionCode), isSystem: true }, user);
  }

  /** Runtime permissions that were granted to a package. */
  permissionsOf(name: string, user = mainUser): Set<string> {
    const key = `${user}:${name}`;
    const known = this.#permissions.get(key) ?? new Set();
    this.#permissions.set(key, known);
    return known;
  }

  /** Numbers of the users of the phone; those after the main one are work profiles. */
  listUsers(): number[] {
    return [...this.#users.keys()];
  }

  addUser(user: number): void {
    if (this.#users.has(user)) return;
    this.#users.set(user, new Map());
    this.#addSystem(user);
  }

  /** Language tags with commas between them; empty: as the phone has. */
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

  /** False when there is none of that name, or it belongs to the system. */
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

/** Path of an APK, as the package manager reports it. */
export function apkPath({ name, isSystem }: Package): string {
  return isSystem ? `/system/app/${name}/base.apk` : `/data/app/~~c2ltdWxhdGVk==/${name}-cGhvbmU==/base.apk`;
}

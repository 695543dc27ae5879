/** Location reported by a provider. */
export interface Fix {
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly accuracy: number;
}

/** A provider that the shell has put in the place of the phone's own. */
export interface TestProvider {
  isEnabled: boolean;
  fix: Fix | undefined;
  /** How often it was told a place. */
  fixes: number;
}

/** Locations that are reported to apps. */
export class Locations {
  /** The master switch. */
  isOn = true;
  /** The app op by which the shell may mock locations, as `appops` names its mode. */
  mockMode = 'default';
  /** By the names of the providers. They are gone after a restart. */
  readonly testProviders = new Map<string, TestProvider>();

  /** The location reported to apps; undefined: the one of the phone's own receiver. */
  fixOf(provider: string): Fix | undefined {
    const test = this.testProviders.get(provider);
    return this.isOn && test?.isEnabled === true ? test.fix : undefined;
  }

  restart(): void {
    this.testProviders.clear();
  }
}

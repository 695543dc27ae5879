/** Location reported by a provider. */
export interface Fix {
  readonly latitude: number;
  readonly longitude: number;
  /** Accuracy in meters. */
  readonly accuracy: number;
}

/** Provider with which the shell has replaced the phone's own. */
export interface TestProvider {
  isEnabled: boolean;
  fix: Fix | undefined;
  /** Number of locations that it has received. */
  fixes: number;
}

/** Locations reported to apps. */
export class Locations {
  /** The master switch. */
  isOn = true;
  /** Mode of the app op that lets the shell mock locations, as `appops` names it. */
  mockMode = 'default';
  /** Test providers by name. A restart removes them. */
  readonly testProviders = new Map<string, TestProvider>();

  /** Returns the location reported to apps; undefined means the phone's own receiver. */
  fixOf(provider: string): Fix | undefined {
    const test = this.testProviders.get(provider);
    return this.isOn && test?.isEnabled === true ? test.fix : undefined;
  }

  restart(): void {
    this.testProviders.clear();
  }
}

const namespaces = ['system', 'secure', 'global'] as const;
type Namespace = (typeof namespaces)[number];

const maxEntries = 1000;

/** The three tables of the settings provider. */
export class Settings {
  readonly #tables: Record<Namespace, Map<string, string>> = {
    system: new Map([
      ['accelerometer_rotation', '0'],
      ['screen_brightness', '128'],
      ['screen_brightness_mode', '1'],
      ['screen_off_timeout', '600000'],
      ['user_rotation', '0'],
    ]),
    secure: new Map([
      ['default_input_method', 'com.android.inputmethod.latin/.LatinIME'],
      ['enabled_accessibility_services', ''],
    ]),
    global: new Map([
      ['adb_enabled', '1'],
      ['animator_duration_scale', '1.0'],
      ['auto_time_zone', '1'],
      ['device_provisioned', '1'],
      ['transition_animation_scale', '1.0'],
      ['window_animation_scale', '1.0'],
    ]),
  };

  #httpProxy: string | undefined;

  /** Returns the proxy that apps use, such as `10.0.0.5:3128`. */
  get httpProxy(): string | undefined {
    return this.#httpProxy;
  }

  /** Returns the table of that name, as spelled by `settings`. */
  findTable(name: string | undefined): Map<string, string> | undefined {
    const namespace = namespaces.find((known) => known === name);
    return namespace && this.#tables[namespace];
  }

  put(table: Map<string, string>, key: string, value: string): void {
    if (table.size < maxEntries || table.has(key)) table.set(key, value);
    // Deletion of the value keeps the effective proxy.
    if (table === this.#tables.global && key === 'http_proxy' && value !== '')
      this.#httpProxy = value.startsWith(':') ? undefined : value;
  }
}

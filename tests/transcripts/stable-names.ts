/** Fields with a different value each time, and the reason. */
const VARYING_FIELDS: Readonly<Record<string, string>> = {
  average_wait_ms: 'of a busy machine it is longer',
  last_used_at: 'written by each server now and then',
  next_cursor: 'an opaque text that has IDs and times in it',
  request_id: 'chance',
};

const patterns = {
  /** UUIDs, and the shorter IDs of screens. */
  id: /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{6})\b/gi,
  /** Hashes of commits, which contain times, and of contents. Git prefixes them with lengths. */
  hash: /(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])/g,
  secret: /\b(?:phx|whsec|whpk|whsk)_[\w+/=-]+/g,
  time: /\b\d{13}\b/g,
  isoTime: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g,
  server: /http:\/\/127\.0\.0\.1:\d+/g,
  receiver: /http:\/\/127\.0\.0\.2:\d+/g,
  signed: /expires=[^&"]+&signature=[\w-]+/g,
  /** Text of the QR code that pairs a phone. */
  pairing: /WIFI:T:ADB;S:[^;]+;P:[^;]+;;/g,
  git: /agent=git\/[\w.-]+/g,
};

const nearMs = 60 * 60_000;
const dayMs = 24 * 60 * 60_000;
/** Maximum age in days of recognized times; tokens are valid for a year. */
const maxDays = 400;

/** Replaces values that differ from play to play with stable names: `<shop>`, `<projects 2>`, `<now>`. */
export class StableNames {
  readonly #names = new Map<string, string>();
  readonly #now: () => number;
  #section = '';
  #count = 0;

  /** Creates the names. `now` is the clock of the servers, in epoch ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts a section; names of unnamed IDs begin with the section's name. */
  begin(section: string): void {
    this.#section = section;
    this.#count = 0;
  }

  /** Names a value; its first name stays. */
  give(value: string, name: string): void {
    if (this.#names.has(value)) return;
    const taken = new Set(this.#names.values());
    let free = `<${name}>`;
    for (let number = 2; taken.has(free); number += 1) free = `<${name} ${number}>`;
    this.#names.set(value, free);
  }

  /** Replaces values in a text. */
  inText(text: string): string {
    return text
      .replaceAll('\0', '\\0')
      .replace(patterns.signed, 'expires=<time>&signature=<signature>')
      .replace(patterns.server, '<server>')
      .replace(patterns.receiver, '<receiver>')
      .replace(patterns.secret, '<secret>')
      .replace(patterns.pairing, 'WIFI:T:ADB;S:<name>;P:<password>;;')
      .replace(patterns.git, 'agent=git/<version>')
      .replace(patterns.isoTime, (time) => this.#timeOf(Date.parse(time)) ?? time)
      .replace(patterns.time, (time) => this.#timeOf(Number(time)) ?? time)
      .replace(patterns.id, (id) => this.#nameOf(id.toLowerCase()))
      .replace(patterns.hash, (hash) => this.#nameOf(hash));
  }

  /** Replaces values in all strings and numbers of a JSON value. */
  inJson(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (typeof value === 'number') return this.#timeOf(value) ?? value;
    if (Array.isArray(value)) return value.map((one) => this.inJson(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]: [string, unknown]) => {
        // A missing cursor marks the end of a list.
        const varies = key in VARYING_FIELDS && !(key === 'next_cursor' && one === null);
        return [this.inText(key), varies ? `<${key}>` : this.inJson(one)];
      }),
    );
  }

  /** Replaces values in a table whose first line has the names of its fields. */
  inCsv(text: string): string {
    const [names = '', ...rows] = text.split('\n');
    const fields = names.split(',');
    const stable = (value: string, at: number): string =>
      (fields[at] ?? '') in VARYING_FIELDS ? `<${fields[at]}>` : value;
    // Tables with commas in their values have none of these fields.
    const lines = rows.map((row) => row.split(',').map(stable).join(','));
    return this.inText([names, ...lines].join('\n'));
  }

  #nameOf(value: string): string {
    if (!this.#names.has(value)) this.give(value, `${this.#section} ${(this.#count += 1)}`);
    return this.#names.get(value) ?? value;
  }

  /** Returns the name of a time; undefined for a constant one. */
  #timeOf(time: number): string | undefined {
    // Hosts use this machine's clock.
    if (Math.abs(time - Date.now()) < nearMs) return '<now>';
    const days = Math.round((time - this.#now()) / dayMs);
    const isTimeOfDay = Math.abs(time - days * dayMs - this.#now()) < nearMs;
    if (!isTimeOfDay || Math.abs(days) > maxDays) return undefined;
    return days === 0 ? '<now>' : `<now + ${days} days>`;
  }
}

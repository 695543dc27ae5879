/** Thrown for an invalid or missing setting. The message is one line that says what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Conversion of a setting's text to its value. */
export interface SettingFormat<Value> {
  /** Allowed values with their unit, in the words of the help. */
  readonly allowed?: string;
  /** Parses a text. Throws a `SettingError` whose message begins with `name`. */
  readonly parse: (text: string, name: string) => Value;
}

/** Setting as people see it and as the program reads it. */
export interface Setting<Value = unknown> {
  readonly name: string;
  /** Default text. `null`: the setting is required. Empty: none. */
  readonly default: string | null;
  /** Replacement for the default in texts for people, because the default itself depends on the machine. */
  readonly defaultText?: string;
  /** Purpose of the setting. */
  readonly description: string;
  readonly format: SettingFormat<Value>;
}

export type Environment = Readonly<Record<string, string | undefined>>;
type Settings = Readonly<Record<string, Setting>>;
type Parsed<Rows extends Settings> = {
  readonly [Key in keyof Rows]: Rows[Key] extends Setting<infer Value> ? Value : never;
};

export const setting = <Value>(row: Setting<Value>): Setting<Value> => Object.freeze(row);

/**
 * Parses settings into a frozen object. Throws a `SettingError` for the first missing or invalid one. An empty variable
 * counts as unset.
 */
export function parseSettings<Rows extends Settings>(rows: Rows, env: Environment): Parsed<Rows>;
export function parseSettings(rows: Settings, env: Environment): object {
  const values = new Map<string, unknown>();
  for (const [key, row] of Object.entries(rows))
    values.set(key, row.format.parse(textOf(row, env), row.name));
  return Object.freeze<object>(Object.fromEntries(values));
}

function textOf({ name, default: fallback, description }: Setting, env: Environment): string {
  const text = env[name]?.trim() || fallback;
  if (text !== null) return text;
  throw new SettingError(`${name} is not set: give the ${description}.`);
}

/** Describes for help and documentation the purpose of a setting and its allowed values. */
export function describeSetting({ description, format }: Setting): string {
  return format.allowed === undefined ? description : `${description}: ${format.allowed}`;
}

/** Returns the default for help and documentation; empty when there is none. */
export const shownDefault = (row: Setting): string => row.defaultText ?? row.default ?? '';

/** A bad or missing setting; its message is one line that says what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** How the text of a setting becomes its value. */
export interface SettingFormat<Value> {
  /** Allowed values, with their unit, in the words of the help. */
  readonly allowed?: string;
  /** Throws a `SettingError` that begins with `name`. */
  readonly parse: (text: string, name: string) => Value;
}

/** One setting as people see it and as the program reads it. */
export interface Setting<Value = unknown> {
  readonly name: string;
  /** `null`: it has to be given. Empty: none. */
  readonly default: string | null;
  /** Stands for the default where people read it, because the default itself differs between machines. */
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

/** Frozen. Throws a `SettingError` at the first missing or bad value; an empty variable counts as not set. */
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

/** For help and documentation: what it is for, and what is allowed. */
export function describeSetting({ description, format }: Setting): string {
  return format.allowed === undefined ? description : `${description}: ${format.allowed}`;
}

/** For help and documentation; empty: there is none. */
export const shownDefault = (row: Setting): string => row.defaultText ?? row.default ?? '';

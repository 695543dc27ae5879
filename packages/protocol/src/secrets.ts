import { Type, type Static } from 'typebox';

/** As environment variables are called. */
export const secretNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,63}$';
export const SecretName = Type.String({
  pattern: secretNamePattern,
  description: 'Letters, digits and `_`, at most 64; it does not begin with a digit',
});

/** In UTF-16 units. Text shorter than the minimum occurs everywhere, so it cannot be removed from logs. */
export const secretLength = { min: 4, max: 8192 };
export const maxSecretsOfProject = 100;

/** The secrets of a launch, by name. They are sent to hosts, and stored nowhere. */
export const LaunchSecrets = Type.Record(
  Type.String({ pattern: secretNamePattern }),
  Type.String({ minLength: secretLength.min, maxLength: secretLength.max }),
);
export type LaunchSecrets = Static<typeof LaunchSecrets>;

/** Stands in the place of a secret's value. */
export const redactedText = '[secret]';

/** As it is, within JSON, and as a console prints it within an object or an array. */
function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  return [value, inJson, inJson.replaceAll('\\"', '"')];
}

/** Whether one of these values is in a text, as it is or within JSON. */
export function createSecretFinder(values: readonly string[]): (text: string) => boolean {
  const forms = [...new Set(values.flatMap(formsOf))];
  return (text) => forms.some((form) => text.includes(form));
}

/** Text of a run that was cut ends with `…`, or is at least so long. */
const leastCutLength = 3999;
/** A shorter beginning of a value tells nothing, and stands at the end of many texts. */
const leastBeginning = 2;

/** Replaces each of these values in a text, and the beginning of one at which the text was cut. */
export function createRedactor(values: readonly string[]): (text: string) => string {
  const forms = new Set(values.flatMap(formsOf));
  // The longest first: one value may be a part of another.
  const sorted = [...forms].toSorted((one, other) => other.length - one.length);
  const beginnings = sorted.map(beginningsOf);
  return (text) => {
    const end = text.endsWith('…') ? text.length - 1 : text.length;
    const isCut = end < text.length || end >= leastCutLength;
    const beginning = isCut ? Math.max(0, ...beginnings.map((before) => before(end, text))) : 0;
    const whole = beginning === 0 ? text : text.slice(0, end - beginning) + redactedText + text.slice(end);
    return sorted.reduce((shown, form) => shown.replaceAll(form, redactedText), whole);
  };
}

/** The same for a text that comes in parts, wherever they are divided. Returns what is safe to pass on so far. */
export function createPartRedactor(values: readonly string[]): (part: string, isLast: boolean) => string {
  const forms = [...new Set(values.flatMap(formsOf))].toSorted((one, other) => other.length - one.length);
  const longest = forms[0]?.length ?? 0;
  if (longest === 0) return (part) => part;
  let held = '';
  return (part, isLast) => {
    const text = held + part;
    // Whatever begins before it is there to its end.
    const decided = isLast ? text.length : Math.max(0, text.length - longest + 1);
    let shown = '';
    let at = 0;
    for (const { index, form } of placesOf(forms, text)) {
      if (index >= decided) break;
      shown += text.slice(at, index) + redactedText;
      at = index + form.length;
    }
    const end = Math.max(at, decided);
    held = text.slice(end);
    return shown + text.slice(at, end);
  };
}

interface Place {
  readonly form: string;
  index: number;
}

/** Where forms stand in a text, one after another; of several at one place the first form. */
function* placesOf(forms: readonly string[], text: string): Generator<Readonly<Place>> {
  let places = forms.map((form): Place => ({ form, index: text.indexOf(form) }));
  for (;;) {
    places = places.filter(({ index }) => index !== -1);
    const [first, ...others] = places;
    if (first === undefined) return;
    const next = others.reduce((best, one) => (one.index < best.index ? one : best), first);
    const end = next.index + next.form.length;
    yield { ...next };
    for (const place of places) if (place.index < end) place.index = text.indexOf(place.form, end);
  }
}

/**
 * How much of the value's beginning, but not all of it, stands before a place in a text. Takes time in proportion to the
 * value, whatever both are (the search of Knuth, Morris and Pratt).
 */
function beginningsOf(value: string): (end: number, text: string) => number {
  /** For each length of the beginning: the longest shorter beginning at its end. */
  let shorter: Int32Array | undefined;
  return (end, text) => {
    shorter ??= endsOfBeginnings(value);
    let length = 0;
    for (let at = Math.max(0, end - value.length + 1); at < end; at += 1)
      length = longer(value, { shorter, length, next: text.charCodeAt(at) });
    return length >= leastBeginning ? length : 0;
  };
}

function endsOfBeginnings(value: string): Int32Array {
  const shorter = new Int32Array(value.length + 1);
  let length = 0;
  for (let at = 1; at < value.length; at += 1) {
    length = longer(value, { shorter, length, next: value.charCodeAt(at) });
    shorter[at + 1] = length;
  }
  return shorter;
}

interface Matching {
  readonly shorter: Int32Array;
  readonly length: number;
  readonly next: number;
}

/** The length of the beginning that stands at the end with one more character. */
function longer(value: string, { shorter, length: before, next }: Matching): number {
  let length = before;
  while (length > 0 && value.charCodeAt(length) !== next) length = shorter[length] ?? 0;
  return value.charCodeAt(length) === next ? length + 1 : 0;
}

/** Rows of the error table. */
export const secretErrors = {
  secret_not_found: { status: 404, message: 'Project {project_id} has no secret {name}.' },
  too_many_secrets: {
    status: 400,
    message: 'A project has at most 100 secrets: delete one that is no longer used.',
  },
  secrets_withheld: {
    status: 400,
    message:
      'The project has secrets, and the owners of these hosts are not among those who get them: {devices}. Choose other phones, or have the owner of the project list them: PUT /api/v2/automation-project/{project_id}/secret-recipients/:user_id, "phalanx secret allow USER".',
  },
  secret_recipient_not_found: {
    status: 404,
    message: 'Project {project_id} does not list user {user_id} among those whose hosts get its secrets.',
  },
  secrets_unavailable: {
    status: 503,
    message:
      'This server cannot read secrets: {reason}. Nothing was changed. Its operator finds what to do under "Secrets" in docs/operating.md.',
  },
} as const;

import { comparedText } from '@phalanx/automation/seen-text';

/** Hides what shows a part of a secret, in one app. */
export interface SecretMask {
  readonly packageName: string;
  /** All parts of the secret that tell something of it. */
  readonly parts: ReadonlySet<string>;
}

/** The shortest secret. */
const minLength = 4;
/** Letters alone stand in words of labels, such as "word" in "Password". */
const minLetters = 6;
/** Lengths of all parts. */
const partLengths: readonly number[] = [minLength, minLength + 1, minLetters];

/** Separators that apps put between the digits of a number, what nobody sees, and letter case hide no part. */
const plain = (text: string): string => comparedText(text).replaceAll(/[ .,/_-]/g, '');

/** Digits and symbols, which no label has by chance. */
const isOdd = (part: string): boolean => /\P{L}/u.test(part);

const cut = (text: string, length: number): string[] =>
  Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => text.slice(at, at + length));

export function maskOfSecret(packageName: string, secret: string): SecretMask {
  const text = plain(secret);
  const long = text.length < minLetters ? cut(text, text.length) : cut(text, minLetters);
  return { packageName, parts: new Set([...long, ...cut(text, minLength).filter(isOdd)].filter(isPart)) };
}

const isPart = ({ length }: string): boolean => length >= minLength;

/** Takes time in proportion to the text, however long the secret is. */
export function showsPart(text: string | null, { parts }: SecretMask): boolean {
  if (text === null) return false;
  const shown = plain(text);
  return partLengths.some((length) => cut(shown, length).some((part) => parts.has(part)));
}

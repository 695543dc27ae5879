import { comparedText } from '@phalanx/automation/seen-text';

/** Mask that hides texts with a part of a secret, in one app. */
export interface SecretMask {
  readonly packageName: string;
  /** All parts that reveal something of the secret. */
  readonly parts: ReadonlySet<string>;
}

/** Minimum length of a secret. */
const minLength = 4;
/**
 * Minimum length of a part that has only letters, because words of labels contain shorter ones, such as "word" in
 * "Password".
 */
const minLetters = 6;
/** Lengths of all parts. */
const partLengths: readonly number[] = [minLength, minLength + 1, minLetters];

/**
 * Normalizes a text: separators that apps put between the digits of a number, invisible characters and letter case must
 * not conceal a part.
 */
const plain = (text: string): string => comparedText(text).replaceAll(/[ .,/_-]/g, '');

/** Whether a part has digits or symbols, which no label contains by chance. */
const isOdd = (part: string): boolean => /\P{L}/u.test(part);

const cut = (text: string, length: number): string[] =>
  Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => text.slice(at, at + length));

export function maskOfSecret(packageName: string, secret: string): SecretMask {
  const text = plain(secret);
  const long = text.length < minLetters ? cut(text, text.length) : cut(text, minLetters);
  return { packageName, parts: new Set([...long, ...cut(text, minLength).filter(isOdd)].filter(isPart)) };
}

const isPart = ({ length }: string): boolean => length >= minLength;

/** Whether a text shows a part of the secret. Takes time in proportion to the text, however long the secret is. */
export function showsPart(text: string | null, { parts }: SecretMask): boolean {
  if (text === null) return false;
  const shown = plain(text);
  return partLengths.some((length) => cut(shown, length).some((part) => parts.has(part)));
}

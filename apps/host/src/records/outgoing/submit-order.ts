import { type AgentCallParams, submittedRecordTypes } from '@phalanx/protocol';

/** Parameters of an automation's submit. */
export type SubmitOrder = AgentCallParams<'record.submit'>;
export type SubmittedType = (typeof submittedRecordTypes)[number];

/** Maximum length of a tag in UTF-16 units, which is never less than the length in characters. */
const maxTagLength = 64;
// oxlint-disable-next-line no-control-regex -- the pattern detects control characters
const unprintable = /[\u0000-\u001f\u007f]/;

export function isSubmittedType(type: string): type is SubmittedType {
  return submittedRecordTypes.some((known) => known === type);
}

/** Returns the reason why the order can't be executed, in words for the author; undefined when it can. */
export function problemOf({ type, tag }: SubmitOrder): string | undefined {
  if (!isSubmittedType(type))
    return `There is no record type "${type}" to submit: give one of ${submittedRecordTypes.join(', ')}.`;
  if (tag === undefined) return undefined;
  if (tag.length === 0 || tag.length > maxTagLength) return `A tag has 1 to ${maxTagLength} characters.`;
  if (unprintable.test(tag) || !tag.isWellFormed()) return 'A tag may not have control characters.';
  return undefined;
}

/** Returns a text that every database accepts. The maximum length in the table of calls counts visible characters. */
export function cleanText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '\uFFFD');
}

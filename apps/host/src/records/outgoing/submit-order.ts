import { type AgentCallParams, submittedRecordTypes } from '@phalanx/protocol';

/** Parameters of an automation's submit. */
export type SubmitOrder = AgentCallParams<'record.submit'>;
export type SubmittedType = (typeof submittedRecordTypes)[number];

/** Maximum length of a tag in UTF-16 units, so that no way of counting finds more. */
const maxTagLength = 64;
// oxlint-disable-next-line no-control-regex -- that is what it looks for
const unprintable = /[\u0000-\u001f\u007f]/;

export function isSubmittedType(type: string): type is SubmittedType {
  return submittedRecordTypes.some((known) => known === type);
}

/** Reason why the order can't be followed, in words for the author. */
export function problemOf({ type, tag }: SubmitOrder): string | undefined {
  if (!isSubmittedType(type))
    return `There is no record type "${type}" to submit: give one of ${submittedRecordTypes.join(', ')}.`;
  if (tag === undefined) return undefined;
  if (tag.length === 0 || tag.length > maxTagLength) return `A tag has 1 to ${maxTagLength} characters.`;
  if (unprintable.test(tag) || !tag.isWellFormed()) return 'A tag may not have control characters.';
  return undefined;
}

/** Text that every database takes. The length in the table of calls counts what people see as one character. */
export function cleanText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\0', '\uFFFD');
}

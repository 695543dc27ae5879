/**
 * Characters that no XML document may have (XML 1.0, 2.2 Characters), and halves of surrogate pairs. The resident helper tells most of
 * them; the UiAutomator2 server writes `?` (NON_XML_CHAR_REPLACEMENT of its AccessibilityNodeInfoDumper), as Java does for a half when
 * it encodes UTF-8. `uiautomator dump` writes `.` (stripInvalidXMLChars of AOSP's AccessibilityNodeInfoDumper), which nobody can tell
 * from a full stop.
 */
// oxlint-disable-next-line no-control-regex
const lost = /[\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]|\p{Cs}/gu;

const replacement = '?';

/** Replaces what one way of reading a screen would lose, so that a text is the same by each of them. */
export function readableText(told: string): string {
  return told.replace(lost, replacement);
}

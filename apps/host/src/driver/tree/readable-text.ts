/**
 * Characters that no XML document may contain (XML 1.0, 2.2 Characters), and halves of surrogate pairs. The resident
 * helper reports most of them. The UiAutomator2 server writes `?` (NON_XML_CHAR_REPLACEMENT of its
 * AccessibilityNodeInfoDumper), as Java does for a half when it encodes UTF-8. `uiautomator dump` writes `.`
 * (stripInvalidXMLChars of AOSP's AccessibilityNodeInfoDumper), which is indistinguishable from a full stop.
 */
// oxlint-disable-next-line no-control-regex
const lost = /[\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]|\p{Cs}/gu;

const replacement = '?';

/** Replaces what one way of reading a screen would lose, so that each way returns the same text. */
export function readableText(told: string): string {
  return told.replace(lost, replacement);
}

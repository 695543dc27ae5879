import type { UiNode } from '@phalanx/protocol';

/** Whether a node is a text field: of Android, Compose, Flutter and React Native, or of a web page. */
export function isTextField({ className, packageName }: UiNode): boolean {
  return packageName !== '' && /EditText|AutoComplete|TextInput|SearchView/.test(className ?? '');
}

/** Returns the text that a field shows: dots for a password, and empty when only the hint is shown. */
export function fieldText({ text, hintText, isShowingHintText }: UiNode): string {
  return text === null || text === hintText || isShowingHintText ? '' : text;
}

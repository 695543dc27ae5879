import type { UiNode } from '@phalanx/protocol';

/** Whether text is typed into it: a field of Android's, of Compose, Flutter and React Native, and of web pages. */
export function isTextField({ className, packageName }: UiNode): boolean {
  return packageName !== '' && /EditText|AutoComplete|TextInput|SearchView/.test(className ?? '');
}

/** The text in a field, as it shows it: dots of a password, and empty where only the hint is shown. */
export function fieldText({ text, hintText, isShowingHintText }: UiNode): string {
  return text === null || text === hintText || isShowingHintText ? '' : text;
}

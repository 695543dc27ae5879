import type { View } from '../view/view.ts';

/**
 * Returns the same views as Compose reports them to accessibility
 * (AndroidComposeViewAccessibilityDelegateCompat.android.kt): without IDs, and a button as a plain view with its text
 * that contains an empty node of class Button.
 */
export function composeLook(view: View): View {
  const children = view.children?.map(composeLook);
  const bare: View = { ...view, resourceId: undefined, children };
  if (view.className !== 'android.widget.Button') return bare;
  const { packageName, frame, text, enabled } = view;
  return {
    ...bare,
    className: 'android.view.View',
    text: undefined,
    children: [
      { className: 'android.widget.TextView', packageName, frame, text, enabled },
      { className: 'android.widget.Button', packageName, frame, enabled },
    ],
  };
}

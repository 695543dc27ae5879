import type { View } from '../view/view.ts';

/**
 * The same views as Compose tells accessibility of them (AndroidComposeViewAccessibilityDelegateCompat.android.kt): no IDs, and a button is a
 * plain view with its text and an empty node of the class Button in it.
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

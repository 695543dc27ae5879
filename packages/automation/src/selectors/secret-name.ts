/**
 * Returns the name of the secret for a password field, from the field's ID or label, such as `PASSWORD` or
 * `ACCOUNT_PIN`.
 */
export function secretNameOf({ viewId, hintText, description }: AndroidNode): string {
  const own = viewId?.split('/').at(-1) || hintText || description || '';
  const words = own
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '');
  return words.slice(0, maxNameLength).replace(/_+$/, '') || 'PASSWORD';
}

/** Maximum length of a secret's name in characters. */
const maxNameLength = 64;

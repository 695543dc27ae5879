/** Names the secret for what a password field holds, by the field's own ID or label, such as `PASSWORD` or `ACCOUNT_PIN`. */
export function secretNameOf({ viewId, hintText, description }: AndroidNode): string {
  const own = viewId?.split('/').at(-1) || hintText || description || '';
  const words = own
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[_0-9]+|_+$/g, '');
  return words.slice(0, maxNameLength).replace(/_+$/, '') || 'PASSWORD';
}

/** Names of secrets have at most 64 characters. */
const maxNameLength = 64;

import { usageError } from '../exit-codes.ts';

/** The address in its one form, without a slash at the end. Throws a usage error that names where it came from. */
export function serverAddress(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  if (!isUsable || url.search !== '' || url.hash !== '')
    throw usageError(`${source} must be an address such as https://phones.example.com; it is "${text}".`);
  if (url.username !== '' || url.password !== '')
    throw usageError(`${source} must not hold a user or password: give the token with PHALANX_TOKEN.`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

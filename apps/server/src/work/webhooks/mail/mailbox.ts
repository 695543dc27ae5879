import { addressOf, isMail } from './mail-address.ts';

/**
 * Returns the mailbox that all spellings of an address share: in lower case, without `+…`. Returns null for a URL that
 * is not an e-mail address.
 */
export function mailboxOf(url: string): string | null {
  if (!isMail(url)) return null;
  const address = addressOf(url).toLowerCase();
  const at = address.lastIndexOf('@');
  const [name] = address.slice(0, at).split('+', 1);
  return `${name}${address.slice(at)}`;
}

import { addressOf, isMail } from './mail-address.ts';

/** The mailbox that all spellings of its address lead to: in small letters, without `+…`. Null for the URL of no e-mail. */
export function mailboxOf(url: string): string | null {
  if (!isMail(url)) return null;
  const address = addressOf(url).toLowerCase();
  const at = address.lastIndexOf('@');
  const [name] = address.slice(0, at).split('+', 1);
  return `${name}${address.slice(at)}`;
}

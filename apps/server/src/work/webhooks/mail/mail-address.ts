const scheme = 'mailto:';

/**
 * Local part of an address: letters, digits and a few signs. No address of a person has the other characters that mail
 * allows, and some of them end a header.
 */
const localPart = /^[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-])?$/;
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
export const domainName = new RegExp(String.raw`^(?=.{1,253}$)${label}(?:\.${label})*$`);

export const isMail = (url: string): boolean => url.startsWith(scheme);
export const addressOf = (url: string): string => url.slice(scheme.length);
export const mailUrlOf = (address: string): string => scheme + address;

/**
 * Reads an address, with the domain in lower case. Returns undefined when it is not an address that e-mails are sent
 * to.
 */
export function readMailAddress(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, at), text.slice(at + 1).toLowerCase()];
  return at > 0 && localPart.test(local) && domainName.test(domain) ? `${local}@${domain}` : undefined;
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

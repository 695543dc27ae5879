import ipaddr from 'ipaddr.js';

/** Networks in the notation of CIDR; a single address is a network of one. Throws when one of them cannot be read. */
export function readNetworks(texts: readonly string[]): (address: string) => boolean {
  const networks = texts.map((text) => ipaddr.parseCIDR(text.includes('/') ? text : wholeOf(text)));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    // An IPv4 address within IPv6 is reached as what it is.
    const plain = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits));
  };
}

const wholeOf = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;

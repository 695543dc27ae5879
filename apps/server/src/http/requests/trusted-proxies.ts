import proxyAddr from '@fastify/proxy-addr';
import { SettingError, type SettingFormat } from '@phalanx/settings';

export type TrustProxy = (address: string) => boolean;

/** The proxies whose `X-Forwarded-For` header is trusted. */
export const proxyList: SettingFormat<TrustProxy> = {
  allowed: 'addresses, subnets such as 10.0.0.0/8, loopback, uniquelocal, with commas; none',
  parse(text, name) {
    if (text === 'none') return () => false;
    try {
      const isTrusted = proxyAddr.compile(text.split(',').map((item) => item.trim()));
      return (address) => isTrusted(address, 0);
    } catch {
      throw new SettingError(
        `${name} is ${JSON.stringify(text.slice(0, 100))}: give addresses, subnets such as 10.0.0.0/8, or loopback, with commas; or none.`,
      );
    }
  },
};

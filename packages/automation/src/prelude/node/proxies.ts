import { primordials } from './primordials.ts';

interface ProxyDetails {
  target: object | null;
  handler: object | null;
}

const RealProxy = Proxy;
const revocable = Proxy.revocable;
const details = new primordials.SafeWeakMap<object, ProxyDetails>();

/** What a proxy stands for; undefined for all other values. Asking a proxy itself would run its traps. */
export function findProxy(value: object): ProxyDetails | undefined {
  return details.get(value);
}

/** Puts a `Proxy` in place that remembers what it makes. There is no other way to make one. */
export function rememberProxies(): void {
  RealProxy.revocable = rememberedRevocable;
  globalThis.Proxy = new RealProxy(RealProxy, {
    // oxlint-disable-next-line no-proto -- traps that are missing must not be found on a patched Object.prototype
    __proto__: null,
    construct: (_target: unknown, args: [object, ProxyHandler<object>]) => {
      const proxy = new RealProxy(args[0], args[1]);
      details.set(proxy, { target: args[0], handler: args[1] });
      return proxy;
    },
  } as ProxyHandler<ProxyConstructor>);
  details.set(globalThis.Proxy, { target: RealProxy, handler: {} });
}

const rememberedRevocable: ProxyConstructor['revocable'] = (target, handler) => {
  const made = revocable(target, handler);
  const known: ProxyDetails = { target, handler };
  details.set(made.proxy, known);
  const { revoke } = made;
  made.revoke = () => {
    known.target = known.handler = null;
    revoke();
  };
  return made;
};

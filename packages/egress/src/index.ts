export * from './address-rule.ts';
export * from './networks.ts';
export * from './public-address.ts';

export * from './address-rule.ts';
export * from './public-address.ts';

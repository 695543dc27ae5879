export * from './address-rule.ts';
export * from './public-address.ts';
export * from './name-resolver.ts';

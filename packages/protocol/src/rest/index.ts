export * from './access.ts';
export * from './contract.ts';
export * from './devices.ts';
export * from './events.ts';
export * from './health.ts';
export * from './launches.ts';
export * from './logs.ts';
export * from './runs.ts';

export * from './agent-calls.ts';

export {
  endingWithCaller,
  openConfinement,
  type Confinement,
  type ConfinementOptions,
  type Start,
} from './confinement.ts';
export { lowerPriority } from './lower-priority.ts';
export { nodeFiles } from './policy.ts';
export type { Policy } from './policy.ts';
export { startProcess } from './start-process.ts';
export { whenClosed, type StartedProcess } from './started-process.ts';

/** Epoch ms: a 64-bit integer in both engines. */
export type EpochMs = number;
/** 0 or 1. */
export type Flag = number;
/** JSON text. */
export type Json = string;

/** Things that servers cache, and read again when a row has changed. */
export const cachedThings = ['access', 'sessions', 'shares', 'people', 'leases', 'labels', 'jobs'] as const;
export type CachedThing = (typeof cachedThings)[number];

/** Kinds of durable work: a verb and its object, which follows `could not` in the log. */
export type WorkKind =
  | 'delete captures'
  | 'delete kept logs'
  | 'delete large packs'
  | 'group records'
  | 'make scheduled jobs'
  | 'mark records of groups'
  | 'mark solved groups'
  | 'replay screens'
  | 'send webhook messages'
  | 'tell webhooks';

/** Epoch ms: a 64-bit integer in both engines. */
export type EpochMs = number;
/** 0 or 1. */
export type Flag = number;
/** JSON text. */
export type Json = string;

/** Caches of the servers, which are reloaded when a row has changed. */
export const cachedThings = ['access', 'sessions', 'shares', 'people', 'leases', 'labels', 'jobs'] as const;
export type CachedThing = (typeof cachedThings)[number];

/** Kinds of durable work: each is a verb and its object, to follow `could not` in the log. */
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

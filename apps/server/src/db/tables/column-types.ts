/** In both engines a whole number of 64 bits. */
export type EpochMs = number;
/** 0 or 1. */
export type Flag = number;
/** JSON text. */
export type Json = string;

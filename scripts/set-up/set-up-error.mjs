/** A set-up that can't go on for a reason the reader can act on: only its message is printed, without a stack. */
export class SetUpError extends Error {}

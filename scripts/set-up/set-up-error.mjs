/** Failed set-up with a reason that the reader can act on: only the message is printed, without a stack. */
export class SetUpError extends Error {}

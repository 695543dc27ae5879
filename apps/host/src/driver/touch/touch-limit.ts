/** The apps that the caller of a touch may use. */
export interface TouchLimit {
  isReadable(packageName: string): boolean;
  /** Requires that the app may get the touch. Throws `app_not_allowed` for another one. */
  requireTouched(packageName: string): void;
}

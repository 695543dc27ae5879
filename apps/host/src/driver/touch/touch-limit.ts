/** Limit to the apps that the caller of a touch may use. */
export interface TouchLimit {
  isReadable(packageName: string): boolean;
  /** Requires that an app may receive the touch. Throws `app_not_allowed` for another app. */
  requireTouched(packageName: string): void;
}

/** Default number of items per page of a list. */
export const defaultPageLimit = 100;
export const maxPageLimit = 1000;

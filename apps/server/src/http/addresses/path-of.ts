/** The path of a request's address, without its query. */
export const pathOf = (url = ''): string => url.split('?', 1)[0] ?? '';

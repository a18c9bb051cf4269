/** The path under which all addresses of the API lie. */
export const BASE_PATH = '/services/v2/';

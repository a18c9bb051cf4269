/** The path that stands for no file: what would be kept in it ends with the process. */
export const IN_MEMORY = ':memory:';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder, not a file',
  EEXIST: 'it already exists',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'the symbolic links of the path lead in a circle',
  EBUSY: 'another program is using it',
  EIO: 'the disk reports an error',
  ERR_INVALID_ARG_VALUE: 'the name contains a character that is not allowed',
  ERR_FS_FILE_TOO_LARGE: 'it is too large',
  ERR_STRING_TOO_LONG: 'it is too large',
};

/** Describes in words why a file cannot be read or written, followed by the system's code, for example `EACCES`. */
export function fileReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  const words = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  return words === undefined ? code : `${words} (${code})`;
}

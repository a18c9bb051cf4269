import { type UploadAttempt, type UploadMemory, uploadKey, type UploadVerdict } from './upload-memory.ts';

/** Claims uploads on behalf of all gateways. */
export interface UploadClaims {
  /**
   * Claims the upload with this key, which is a hash, or only checks it if `isPeek` is true. Rejects if the other
   * gateways cannot be reached.
   */
  claim(key: string, attempt: Pick<UploadAttempt, 'force' | 'windowMs' | 'isPeek'>): Promise<UploadVerdict>;
}

/**
 * Refuses uploads that another gateway is forwarding or has recently forwarded. If the others cannot be reached, only
 * this gateway's own uploads are considered.
 */
export function shareUploads(own: UploadMemory, claims: UploadClaims): UploadMemory {
  return {
    async begin(attempt) {
      const local = await own.begin(attempt);
      if (local.verdict === 'duplicate') return local;
      const shared = await claims.claim(uploadKey(attempt), attempt).catch(() => undefined);
      if (shared?.verdict === 'duplicate') {
        local.finish(undefined);
        return shared;
      }
      return {
        verdict: 'first',
        finish(status) {
          local.finish(status);
          shared?.finish(status);
        },
      };
    },
  };
}

/** A rule in `rateLimits`. */
export interface RateLimitRule {
  readonly name: string;
  /** Whether each caller, each network or each role has its own budget. */
  readonly per: 'caller' | 'network' | 'role';
  /**
   * The operations to which the rule applies. If undefined, the rule applies to all operations and to undocumented
   * paths.
   */
  readonly operations?: readonly string[];
  /**
   * The roles to which the rule applies. A caller needs only one of them. If undefined, the rule applies to all
   * callers.
   */
  readonly roles?: readonly string[];
  readonly requests: number;
  readonly windowSeconds: number;
}

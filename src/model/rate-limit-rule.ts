/** A rule of `rateLimits`. */
export interface RateLimitRule {
  readonly name: string;
  /** Who shares a budget: a single caller, a network, or all callers with a given role. */
  readonly per: 'caller' | 'network' | 'role';
  /**
   * The operations to which the rule applies. If undefined, the rule applies to all operations and to undocumented
   * paths.
   */
  readonly operations?: readonly string[];
  /**
   * The roles of the callers to whom the rule applies. A caller needs any one of them. If undefined, the rule applies
   * to all callers.
   */
  readonly roles?: readonly string[];
  readonly requests: number;
  readonly windowSeconds: number;
}

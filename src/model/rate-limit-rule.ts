/** A rule of `rateLimits`. */
export interface RateLimitRule {
  readonly name: string;
  /** Who shares a budget: a single caller, the callers in a network, or all callers with a given role. */
  readonly per: 'caller' | 'network' | 'role';
  /**
   * The operations that the rule applies to. If undefined, the rule applies to all operations and to undocumented
   * paths.
   */
  readonly operations?: readonly string[];
  /**
   * The roles that the rule applies to. A caller needs only one of them. If undefined, the rule applies to all callers.
   */
  readonly roles?: readonly string[];
  readonly requests: number;
  readonly windowSeconds: number;
}

/** A rule of `rateLimits`. */
export interface RateLimitRule {
  readonly name: string;
  /** The scope of a budget: a single caller, a network, or all callers with a given role. */
  readonly per: 'caller' | 'network' | 'role';
  /** The rule applies to these operations. If undefined, it applies to all operations and to undocumented paths. */
  readonly operations?: readonly string[];
  /** The rule applies to callers with any of these roles. If undefined, it applies to all callers. */
  readonly roles?: readonly string[];
  readonly requests: number;
  readonly windowSeconds: number;
}

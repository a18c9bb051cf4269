/**
 * A part of the gateway that exists once: it is started with the gateway, in the order of a list, and closed in reverse
 * order. The engine's services are values next to the code that they open, listed in `services.ts`; a feature becomes a
 * service, too. A reload starts again what it affects, and everything else goes on.
 *
 * `Needs` is what the service uses: of the settings, of what was read at startup, and of the services before it in the
 * list. What `start` returns must not keep `needs` or `earlier` in memory, because it may outlive many reloads: take
 * them apart in the parameter list.
 */
export interface Service<Value, Needs> {
  /**
   * Returns what the value depends on. A reload that changes it starts the service again. If there is no such function,
   * the value lasts until the gateway closes.
   */
  dependsOn?(needs: Needs): unknown;
  /** Creates the value at once. `earlier` is the value that a reload replaces, whose state may have to go on. */
  start(needs: Needs, earlier: Value | undefined): Value;
  /**
   * Opens what takes time, before new requests use a value that a reload has started. An error prevents the start of
   * the gateway, or the reload.
   */
  open?(value: Value): Promise<void> | void;
  /**
   * Called when new requests begin to use a configuration, whether or not it has started the service again. If a reload
   * fails after this, it is called again with the earlier value.
   */
  use?(value: Value, needs: Needs): void;
  /**
   * Closes a value that a reload has replaced or could not use, or that is no longer needed, because the gateway closes.
   * Work in progress may go on for `graceMs` milliseconds.
   */
  close?(value: Value, graceMs: number, needs: Needs): Promise<void> | void;
}

/**
 * The imports that the layers do not permit but that still exist: the engine and some features still know parts that are
 * to stand behind the `Feature` interface or in the profile. The list only becomes shorter: a test fails if a listed
 * import is gone, or if another one appears.
 */
export const STILL_TO_MOVE: readonly string[] = [];

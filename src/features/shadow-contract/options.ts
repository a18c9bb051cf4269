import { type Static, Type } from 'typebox';

/** The options under the `contract.candidate` configuration key. All paths are absolute. */
export const options = Type.Object(
  {
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The folder of the shadow contract; by default the folder of the contract.',
      }),
    ),
    overlays: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'The overlays of the shadow contract, which replace those of the contract.',
    }),
  },
  {
    additionalProperties: false,
    description:
      'A shadow contract: Portico reports the messages that it judges differently; see docs/contract.md#the-shadow-contract.',
  },
);

/** The options of the shadow contract. */
export type ShadowOptions = Static<typeof options>;

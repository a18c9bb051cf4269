import type { Stage } from '../stage.ts';

/** The stage that checks a page against the contract. */
export const judge: Stage = {
  name: 'parse and judge',
  what: 'the same, plus contract.checkResponse: schema and semantic rules',
  paidBy: 'miss',
  prepare: ({ assembly: { gateway }, plan, exchange, body }) => {
    const { contract } = gateway;
    const values = exchange.values();
    const judged = () => {
      const json = JSON.parse(body.toString('utf8')) as unknown;
      return contract.checkResponse(plan.operation, values, { status: 200, mediaType: 'application/json', json });
    };
    if (judged().verdict !== 'valid') throw new Error('the page breaks the contract');
    return { run: judged };
  },
};

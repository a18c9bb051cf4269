import { describe, expect, it } from 'vitest';
import { type AddressHealth, upstreamHealth } from '../../../src/engine/upstream/upstream-health.ts';

const address = (more: Partial<AddressHealth> = {}): AddressHealth => ({
  address: 'qa.example:8080',
  state: 'healthy',
  inFlight: 0,
  retrySeconds: 0,
  probe: undefined,
  requests: { succeeded: 0, failed: 0 },
  ...more,
});

const health = (circuit: 'closed' | 'open' | 'half-open', addresses = [address()], isObserved = false) => {
  const { status, reasons } = upstreamHealth({ circuit, isObserved, addresses });
  return [status, ...reasons];
};

describe('the health of the upstream', () => {
  it('follows the circuit', () => {
    expect(health('closed')).toEqual(['healthy']);
    expect(health('open')).toEqual(['failing', 'requests keep failing, so they are paused']);
    expect(health('half-open')).toEqual(['degraded', 'requests kept failing, and the next one is a trial']);
  });

  it('does not claim in observe mode that requests are paused', () => {
    expect(health('open', [address()], true)).toEqual(['failing', 'requests keep failing']);
  });

  it('is degraded while some addresses are not usable, and failing if none is', () => {
    const ejected = address({ address: 'b:1', state: 'ejected' });
    expect(health('closed', [address(), ejected])).toEqual(['degraded', 'b:1 is ejected']);
    const unprobed = address({ probe: 'failed' });
    expect(health('closed', [unprobed, address({ address: 'b:1', probe: 'passed' })])).toEqual([
      'degraded',
      'the probe of qa.example:8080 fails',
    ]);
    expect(health('closed', [unprobed, ejected])).toEqual([
      'failing',
      'no address is healthy',
      'the probe of qa.example:8080 fails',
      'b:1 is ejected',
    ]);
  });
});

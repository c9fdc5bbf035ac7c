import { describe, expect, it } from 'vitest';

import { limitOutputs } from '../src/features/notebooks/output_limits';

describe('limitOutputs', () => {
  const limits = { textChars: 10, dataChars: 4, totalChars: 100 };

  it('truncates long text and says by how much', () => {
    const [output] = limitOutputs([{ output_type: 'stream', name: 'stdout', text: 'x'.repeat(15) }], limits);
    expect(output.text).toBe(`${'x'.repeat(10)}\n… 5 more characters`);
  });

  it('drops too large data and keeps its description', () => {
    const [output] = limitOutputs(
      [
        {
          output_type: 'display_data',
          metadata: {},
          data: { 'image/png': 'AAAAAA', 'text/plain': '<Figure>' }
        }
      ],
      limits
    );
    expect(output.data).toEqual({ 'text/plain': '<Figure>' });
  });

  it('keeps all outputs within the total', () => {
    const outputs = Array.from({ length: 50 }, () => ({
      output_type: 'stream',
      name: 'stdout',
      text: 'x'.repeat(9)
    }));
    const kept = limitOutputs(outputs, limits).map(output => String(output.text).length);
    expect(kept.reduce((sum, length) => sum + length, 0)).toBeLessThan(200);
    expect(kept).toHaveLength(50);
  });
});

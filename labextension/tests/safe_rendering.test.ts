import { describe, expect, it } from 'vitest';

import { limitOutputs } from '../src/models/output_limits';
import { withoutLoading } from '../src/widgets/html_without_loading';

describe('withoutLoading', () => {
  it('turns a picture from elsewhere into a link', () => {
    const html = withoutLoading(
      '<p><img src="https://evil.example/p.png?secret" alt="plot" srcset="x 2x"></p>'
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('>plot</a>');
    expect(html).toContain('rel="noopener noreferrer"');
  });

  it('keeps pictures that are in the text itself', () => {
    const html = '<img src="data:image/png;base64,AAAA" alt="">';
    expect(withoutLoading(html)).toBe(html);
  });

  it('leaves nothing else that loads by itself', () => {
    const html = withoutLoading(
      '<video src="//evil/v" poster="//evil/p"></video><div style="background: url(//evil/b)">x</div><audio><source src="//evil/a"></audio>'
    );
    expect(html).not.toMatch(/poster|url\(|src=/);
  });

  it('never makes a link that runs code', () => {
    expect(withoutLoading('<img src="javascript:alert(1)">')).not.toContain('href');
  });

  it('changes nothing where nothing loads', () => {
    const html = '<p>a <a href="https://example.org">link</a> & <code>img</code></p>';
    expect(withoutLoading(html)).toBe(html);
  });
});

describe('limitOutputs', () => {
  const limits = { textChars: 10, dataChars: 4, totalChars: 100 };

  it('cuts long text and says by how much', () => {
    const [output] = limitOutputs([{ output_type: 'stream', name: 'stdout', text: 'x'.repeat(15) }], limits);
    expect(output.text).toBe(`${'x'.repeat(10)}\n… 5 more characters`);
  });

  it('leaves out data that is too large and keeps what describes it', () => {
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

  it('keeps all outputs together within the total', () => {
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

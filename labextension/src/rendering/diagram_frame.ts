/**
 * Mermaid in an isolated frame: a sandbox with its own origin and a content policy that loads nothing, inside
 * a frame whose policy prevents navigation. Only text comes back.
 */
import { UUID } from '@lumino/coreutils';

import { MAX_CHARS } from './diagrams';
import type { DrawDiagram } from './diagrams';

const TIMEOUT_MS = 15_000;

/**
 * Mermaid's frame. It is created with the first diagram and draws one diagram at a time; a stuck frame is
 * discarded.
 */
export class DiagramFrame {
  /** `library` returns mermaid's own script as text. */
  constructor(private readonly library: () => Promise<string>) {}

  readonly draw: DrawDiagram = (source, isDark) => {
    const drawing = this._last.then(() => this._draw(source, isDark));
    this._last = drawing.catch(() => undefined);
    return drawing;
  };

  private async _draw(source: string, isDark: boolean): Promise<string> {
    this._frame ??= await openFrame(await this.library());
    const frame = this._frame;
    try {
      return await answerOf(frame, { source, isDark, id: ++this._count });
    } catch (error) {
      if (error instanceof NoAnswer) {
        frame.remove();
        this._frame = null;
      }
      throw error;
    }
  }

  private _frame: HTMLIFrameElement | null = null;
  private _last: Promise<unknown> = Promise.resolve();
  private _count = 0;
}

class NoAnswer extends Error {}

interface Drawn {
  id: number;
  svg?: string;
  problem?: string;
}

/**
 * Nothing may be loaded, and only the scripts inserted here may run, none from a diagram. The outer policy
 * controls where the inner frame may navigate, the inner one its contents.
 */
const policy = (nonce: string) =>
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; ` +
  `style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'">` +
  `<meta http-equiv="x-dns-prefetch-control" content="off">`;
/** In the inner frame: draws what it is sent, and answers the page, which is two frames up. */
const DRAW = `
  addEventListener('message', async ({ data }) => {
    const answer = { id: data.id };
    try {
      mermaid.initialize({
        startOnLoad: false, securityLevel: 'strict', theme: data.isDark ? 'dark' : 'default', fontFamily: 'sans-serif',
        maxTextSize: ${MAX_CHARS}, suppressErrorRendering: true, htmlLabels: false, flowchart: { htmlLabels: false },
        secure: ['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'suppressErrorRendering', 'htmlLabels',
                 'flowchart', 'fontFamily', 'themeCSS', 'theme', 'themeVariables']
      });
      const { svg } = await mermaid.render('diagram' + data.id, data.source);
      const page = new DOMParser().parseFromString(svg, 'text/html');
      answer.svg = new XMLSerializer().serializeToString(page.querySelector('svg'));
    } catch (error) {
      answer.problem = String((error && error.message) || error).split('\\n')[0].slice(0, 200);
    }
    parent.parent.postMessage(answer, '*');
  });
  parent.parent.postMessage({ id: 0 }, '*');`;

async function openFrame(library: string): Promise<HTMLIFrameElement> {
  const nonce = UUID.uuid4();
  const script = (text: string) =>
    `<script nonce="${nonce}">${text.replace(/<\/(script)/gi, '<\\/$1')}</script>`;
  const inner = `<!doctype html>${policy(nonce)}<body>${script(library)}${script(DRAW)}</body>`;
  const outer = `<!doctype html>${policy(nonce)}<body><iframe sandbox="allow-scripts" width="1200" height="800" srcdoc="${quoted(inner)}"></iframe></body>`;
  const frame = document.createElement('iframe');
  frame.className = 'onyx-DiagramFrame';
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.setAttribute('aria-hidden', 'true');
  frame.tabIndex = -1;
  frame.srcdoc = outer;
  const ready = nextAnswer(frame, 0);
  document.body.append(frame);
  try {
    await ready;
  } catch (error) {
    frame.remove();
    throw error;
  }
  return frame;
}

async function answerOf(
  frame: HTMLIFrameElement,
  request: { source: string; isDark: boolean; id: number }
): Promise<string> {
  const answer = nextAnswer(frame, request.id);
  frame.contentWindow?.[0]?.postMessage(request, '*');
  const { svg, problem } = await answer;
  if (typeof svg !== 'string') {
    throw new Error(problem ?? '');
  }
  return svg;
}

/** The inner frame's answer with that number. Rejects on a timeout. */
function nextAnswer(frame: HTMLIFrameElement, id: number): Promise<Drawn> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('message', listen);
    };
    const listen = ({ source, data }: MessageEvent<Drawn>) => {
      if (source === frame.contentWindow?.[0] && data?.id === id) {
        end();
        resolve(data);
      }
    };
    const timer = setTimeout(() => {
      end();
      reject(new NoAnswer('it takes too long'));
    }, TIMEOUT_MS);
    addEventListener('message', listen);
  });
}

function quoted(html: string): string {
  return html.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
}

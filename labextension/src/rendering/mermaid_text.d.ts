/** Mermaid's own bundle as text: it runs in a frame of its own, never in the page. */
declare module 'mermaid.txt!=!mermaid/dist/mermaid.min.js' {
  const script: string;
  export default script;
}

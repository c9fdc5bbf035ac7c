/** Onyx's mark: a cut stone, drawn with JupyterLab's own icon classes so that every theme colours it. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd"
    d="M5 1.5h6L15 6.4 8 15 1 6.4zM5.6 3 3.4 5.7h2.7L7.3 3zm4.8 0H8.7l1.2 2.7h2.7zM3.6 7.2l2.7 3.3-.9-3.3zm3.4 0L8 11l1-3.8zm3.6 0-.9 3.3 2.7-3.3z"/>
</svg>`;

export const onyxIcon = new LabIcon({ name: 'onyx:stone', svgstr: SVG });

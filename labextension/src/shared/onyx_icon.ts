/** Onyx's mark: a cut stone, drawn with JupyterLab's own icon classes so that every theme colours it. */
import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd"
    d="M5 1.5h6L15 6.4 8 15 1 6.4zM5.6 3 3.4 5.7h2.7L7.3 3zm4.8 0H8.7l1.2 2.7h2.7zM3.6 7.2l2.7 3.3-.9-3.3zm3.4 0L8 11l1-3.8zm3.6 0-.9 3.3 2.7-3.3z"/>
</svg>`;

export const onyxIcon = new LabIcon({ name: 'onyx:stone', svgstr: SVG });

const FILES_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd"
    d="M1 3.2C1 2.5 1.5 2 2.2 2h3.9l1.6 1.7h6.1c.7 0 1.2.5 1.2 1.2v7.9c0 .7-.5 1.2-1.2 1.2H2.2C1.5 14 1 13.5 1 12.8zM2.4 5.1v7.5h11.200V5.1zM6.200 6.200h3.600l1.600 2L8 12 4.600 8.200z"/>
</svg>`;

/** The stone in a folder: Onyx's own files. */
export const onyxFilesIcon = new LabIcon({ name: 'onyx:files', svgstr: FILES_SVG });

import { approvalsPlugin } from './plugins/approvals';
import { cellActionsPlugin } from './plugins/cell_actions';
import { cellCardPlugin } from './plugins/cell_card';
import { chatPlugin } from './plugins/chat';
import { connectionPlugin } from './plugins/connection';
import { knowledgePlugin } from './plugins/knowledge';
import { memoryPlugin } from './plugins/memory';
import { notebookPlugin } from './plugins/notebook';
import { renderingPlugin } from './plugins/rendering';
import { reviewPlugin } from './plugins/review';
import { skillsPlugin } from './plugins/skills';
import { drivePlugin, workspacePlugin } from './plugins/workspace';

export default [
  drivePlugin,
  connectionPlugin,
  renderingPlugin,
  notebookPlugin,
  chatPlugin,
  approvalsPlugin,
  cellActionsPlugin,
  reviewPlugin,
  cellCardPlugin,
  workspacePlugin,
  skillsPlugin,
  knowledgePlugin,
  memoryPlugin
];
export * from './tokens';

import { approvalsPlugin } from './features/approvals/plugin';
import { cellActionsPlugin } from './features/cell_actions/plugin';
import { cellCardPlugin } from './features/cell_card/plugin';
import { chatPlugin } from './features/chat/plugin';
import { connectionPlugin } from './features/connection/plugin';
import { knowledgePlugin } from './features/documents/plugin';
import { memoryPlugin } from './features/memory/plugin';
import { notebookPlugin } from './features/notebooks/plugin';
import { onboardingPlugin } from './features/onboarding/plugin';
import { renderingPlugin } from './rendering/plugin';
import { reviewPlugin } from './features/review/plugin';
import { schedulePlugin } from './features/schedule/plugin';
import { settingsPlugin } from './features/settings/plugin';
import { skillsPlugin } from './features/skills/plugin';
import { usagePlugin } from './features/usage/plugin';
import { drivePlugin, workspacePlugin } from './features/workspace/plugin';

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
  settingsPlugin,
  schedulePlugin,
  skillsPlugin,
  knowledgePlugin,
  memoryPlugin,
  usagePlugin,
  onboardingPlugin
];
export * from './tokens';

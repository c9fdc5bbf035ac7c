import { approvalsPlugin } from './plugins/approvals';
import { chatPlugin } from './plugins/chat';
import { connectionPlugin } from './plugins/connection';
import { notebookPlugin } from './plugins/notebook';

export default [connectionPlugin, notebookPlugin, chatPlugin, approvalsPlugin];
export * from './tokens';

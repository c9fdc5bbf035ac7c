/** What tools do, in words. */
// Generated from onyx_jupyter/action_words.py by `python -m onyx_jupyter.server.action_words_ts`. Do not edit.
import type { TranslationBundle } from '@jupyterlab/translation';

/** While it goes on, and when it is done. */
export type ActionWords = readonly [doing: string, done: string];

/** The words for a label's `action`, done to `count` things; null for one that this version does not know. */
export function phrasesOf(action: string, count: number, trans: TranslationBundle): ActionWords | null {
  switch (action) {
    case 'run_command':
      return [trans.__("Run"), trans.__("Ran")];
    case 'list_jobs':
      return [trans.__("List background jobs"), trans.__("Listed background jobs")];
    case 'look_at_job':
      return [trans.__("Check the background job"), trans.__("Checked the background job")];
    case 'type_into_job':
      return [trans.__("Send input to the background job"), trans.__("Sent input to the background job")];
    case 'end_job':
      return [trans.__("Stop the background job"), trans.__("Stopped the background job")];
    case 'read_notebook':
      return [trans.__("Read"), trans.__("Read")];
    case 'outline_notebook':
      return [trans.__("Look through"), trans.__("Looked through")];
    case 'search_notebook':
      return [trans.__("Search for"), trans.__("Searched for")];
    case 'list_notebooks':
      return [trans.__("List notebooks"), trans.__("Listed notebooks")];
    case 'create_notebook':
      return [trans.__("Create"), trans.__("Created")];
    case 'create_and_run_notebook':
      return [trans.__("Create and run"), trans.__("Created and ran")];
    case 'insert_cell':
      return [trans.__("Insert a cell into"), trans.__("Inserted a cell into")];
    case 'insert_and_run_cell':
      return [trans.__("Insert and run a cell in"), trans.__("Inserted and ran a cell in")];
    case 'edit_cell':
      return [trans.__("Edit a cell of"), trans.__("Edited a cell of")];
    case 'edit_and_run_cell':
      return [trans.__("Edit and run a cell of"), trans.__("Edited and ran a cell of")];
    case 'delete_cells':
      return [trans._n("Delete a cell of", "Delete %1 cells of", count), trans._n("Deleted a cell of", "Deleted %1 cells of", count)];
    case 'move_cell':
      return [trans.__("Move a cell of"), trans.__("Moved a cell of")];
    case 'run_cell':
      return [trans.__("Run a cell of"), trans.__("Ran a cell of")];
    case 'run_cells':
      return [trans.__("Run the cells of"), trans.__("Ran the cells of")];
    case 'restart_kernel':
      return [trans.__("Restart the kernel of"), trans.__("Restarted the kernel of")];
    case 'restart_and_run':
      return [trans.__("Restart and run"), trans.__("Restarted and ran")];
    case 'list_variables':
      return [trans.__("Inspect the variables of"), trans.__("Inspected the variables of")];
    case 'inspect_variable':
      return [trans.__("Look at"), trans.__("Looked at")];
    case 'run_code':
      return [trans.__("Run"), trans.__("Ran")];
    case 'read_file':
      return [trans.__("Read"), trans.__("Read")];
    case 'write_file':
      return [trans.__("Write"), trans.__("Wrote")];
    case 'edit_file':
      return [trans.__("Edit"), trans.__("Edited")];
    case 'list_folder':
      return [trans.__("List"), trans.__("Listed")];
    case 'search_files':
      return [trans.__("Search for"), trans.__("Searched for")];
    case 'search_web':
      return [trans.__("Search the web for"), trans.__("Searched the web for")];
    case 'read_page':
      return [trans.__("Read the page"), trans.__("Read the page")];
    case 'send_request':
      return [trans.__("Request"), trans.__("Requested")];
    case 'use_tool':
      return [trans.__("Use"), trans.__("Used")];
    case 'ask_person':
      return [trans.__("Ask"), trans.__("Asked")];
    case 'plan':
      return [trans.__("Plan"), trans.__("Planned")];
    case 'look_up_tool':
      return [trans.__("Look up the tool"), trans.__("Looked up the tool")];
    case 'search_memory':
      return [trans.__("Search memory for"), trans.__("Searched memory for")];
    case 'read_memory':
      return [trans.__("Read"), trans.__("Read")];
    case 'write_memory':
      return [trans.__("Write to memory"), trans.__("Wrote to memory")];
    case 'list_versions':
      return [trans.__("View versions of"), trans.__("Viewed versions of")];
    case 'restore_version':
      return [trans.__("Restore a version of"), trans.__("Restored a version of")];
    case 'remember':
      return [trans.__("Remember:"), trans.__("Remembered:")];
    case 'forget':
      return [trans.__("Forget facts with"), trans.__("Forgot facts with")];
    case 'search_documents':
      return [trans.__("Search documents for"), trans.__("Searched documents for")];
    case 'add_document':
      return [trans.__("Add to the documents"), trans.__("Added to the documents")];
    case 'list_sessions':
      return [trans.__("List sessions"), trans.__("Listed sessions")];
    case 'search_sessions':
      return [trans.__("Search sessions for"), trans.__("Searched sessions for")];
    case 'read_session':
      return [trans.__("Read another session"), trans.__("Read another session")];
    case 'write_to_session':
      return [trans.__("Send to another session"), trans.__("Sent to another session")];
    case 'schedule_job':
      return [trans.__("Schedule"), trans.__("Scheduled")];
    case 'list_scheduled_jobs':
      return [trans.__("List scheduled jobs"), trans.__("Listed scheduled jobs")];
    case 'update_job':
      return [trans.__("Change the job"), trans.__("Changed the job")];
    case 'cancel_job':
      return [trans.__("Cancel the job"), trans.__("Cancelled the job")];
    case 'read_skill':
      return [trans.__("Read the skill"), trans.__("Read the skill")];
    case 'run_skill':
      return [trans.__("Run the skill"), trans.__("Ran the skill")];
    default:
      return null;
  }
}

// Declares once everything that the page can be told to do: the palette, the keys and their list
// are drawn from here.
import type { Command } from './command.ts'
import { FILE_COMMANDS } from './file_commands.ts'
import { PAGE_COMMANDS, PART_COMMANDS, STEP_COMMANDS } from './page_commands.ts'
import { RUN_COMMANDS } from './run_commands.ts'
import { SETTINGS_COMMANDS } from './settings_commands.ts'

export const COMMANDS: readonly Command[] = [
  ...RUN_COMMANDS,
  ...SETTINGS_COMMANDS,
  ...FILE_COMMANDS,
  ...STEP_COMMANDS,
  ...PART_COMMANDS,
  ...PAGE_COMMANDS,
]

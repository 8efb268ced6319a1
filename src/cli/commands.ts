// Lists every command of the lab.

import { presets } from '../../tools/presets/presets.ts'
import { tasks } from '../../tools/tasks/tasks.ts'
import { adapters } from './adapters.ts'
import type { Command } from './base/command.ts'
import { check } from './check.ts'
import { completionOf } from './completion.ts'
import { conform } from './conform.ts'
import { exportCommand } from './export/export.ts'
import { generate } from './generate.ts'
import { importRun } from './import.ts'
import { lensCommand } from './intervene/lens.ts'
import { linearProbeCommand } from './intervene/linear_probe.ts'
import { patchCommand } from './intervene/patch.ts'
import { steerCommand } from './intervene/steer.ts'
import { transplantCommand } from './intervene/transplant.ts'
import { probe } from './probe.ts'
import { record } from './record.ts'
import { studyCommand } from './study/study_command.ts'
import { train } from './train/train.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  train,
  study: studyCommand,
  probe,
  'linear-probe': linearProbeCommand,
  generate,
  patch: patchCommand,
  lens: lensCommand,
  transplant: transplantCommand,
  steer: steerCommand,
  export: exportCommand,
  import: importRun,
  check,
  adapters,
}
/** What only who changes the lab needs. */
const MAINTAINERS: Readonly<Record<string, Command>> = { conform, record, presets, tasks }
const completion = completionOf({ ...COMMANDS, ...MAINTAINERS })
/** Every command by its name. */
export const ALL: Readonly<Record<string, Command>> = {
  ...COMMANDS,
  completion,
  ...MAINTAINERS,
}

/** Columns of the names, two behind the longest. */
const NAMES = 2 + Math.max(...Object.keys(ALL).map(({ length }) => length))

const rows = (commands: Readonly<Record<string, Command>>) =>
  Object.entries(commands).map(([name, { line }]) => `  ${name.padEnd(NAMES)}${line.summary}`)

/** The list of commands: it fits a screen. */
export const overview = () =>
  [
    'Usage: npm run -s lab -- <command> [options]',
    '',
    ...rows({ ...COMMANDS, completion }),
    'For who changes the lab:',
    ...rows(MAINTAINERS),
    '',
    "help <command>, or <command> --help, shows a command's options with examples.",
    'First run: npm run -s lab -- train tiny --out runs/tiny',
  ].join('\n')

// The lab without a browser: npm run -s lab -- <command>.
import { adapters } from './adapters.ts'
import { type Command, LabFailure, UsageError } from './command.ts'
import { conform } from './conform.ts'
import { exportCommand } from './export/export.ts'
import { generate } from './generate.ts'
import { importRun } from './import.ts'
import { limitPatterns } from './input/text_deadline.ts'
import { presets } from './presets/presets.ts'
import { probe } from './probe.ts'
import { record } from './record.ts'
import { studyCommand } from './study/study_command.ts'
import { tasks } from './tasks/tasks.ts'
import { outliveReaders, print, tell } from './terminal.ts'
import { train } from './train.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  train,
  study: studyCommand,
  record,
  presets,
  tasks,
  conform,
  probe,
  generate,
  export: exportCommand,
  import: importRun,
  adapters,
}

const helpOf = ([name, { usage, summary }]: [string, Command]) =>
  `  ${`${name} ${usage}`.trim()}\n      ${summary}`

const help = () =>
  `Usage: npm run -s lab -- <command>\n\n${Object.entries(COMMANDS).map(helpOf).join('\n')}`

/** Our own mistake, with the place where it happened. */
const shown = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : `${error}`

/** Runs one command; user errors are a sentence, never a stack trace. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    print(help())
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    tell(`There is no command '${name}'.\n\n${help()}`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) {
    print(helpOf([name, command]))
    return 0
  }
  try {
    return await command.run(args)
  } catch (error) {
    if (error instanceof UsageError) {
      tell(`${error.message}\nUsage: lab ${name} ${command.usage}`.trim())
      return 2
    }
    // These say all there is to say; anything else is our own mistake and shows where it happened.
    const isPlain =
      error instanceof LabFailure ||
      (error instanceof Error &&
        [
          'GpuError',
          'ExperimentError',
          'ModelFileError',
          'CheckpointError',
          'JobError',
          'TokenizerFileError',
          'RewardError',
        ].includes(error.name))
    tell(isPlain ? (error as Error).message : shown(error))
    return 1
  }
}

outliveReaders()
limitPatterns()
// Dawn keeps the process alive for as long as a device exists, so the end is said aloud.
main(process.argv.slice(2)).then((code) => process.exit(code))

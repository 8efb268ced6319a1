// Runs the lab without a browser: npm run -s lab -- <command>.

import { nearest } from '../document/experiment/fields/nearest.ts'
import { saysAll, UsageError } from './base/command.ts'
import { outliveReaders, print, tell } from './base/terminal.ts'
import { ALL, overview } from './commands.ts'
import { limitPatterns } from './input/text_deadline.ts'
import { helpOf } from './options/read.ts'

/** Our own mistake, with the place where it happened. */
const shown = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : `${error}`

const isHelp = (word: string) => word === 'help' || word === '--help' || word === '-h'

/** The option of all commands, which comes before their names: toggles of Dawn's. */
const DAWN = '--dawn-features'

/** Runs one command; user errors are a sentence, never a stack trace. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === DAWN) {
    process.env.DAWN_FEATURES = args[0] ?? ''
    return main(args.slice(1))
  }
  const asked = name !== undefined && isHelp(name) ? args[0] : name
  if (asked === undefined) {
    print(overview())
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(ALL, asked) ? ALL[asked] : undefined
  if (!command) {
    const near = nearest(asked, Object.keys(ALL))
    tell(`There is no command '${asked}'.${near ? ` Did you mean ${near}?` : ''}\n\n${overview()}`)
    return 2
  }
  if (asked !== name || args.includes('--help') || args.includes('-h')) {
    print(helpOf(command.line))
    return 0
  }
  try {
    return await command.run(args)
  } catch (error) {
    if (error instanceof UsageError) {
      tell(`${error.message}\nnpm run -s lab -- ${asked} --help shows what there is.`)
      return 2
    }
    tell(saysAll(error) ? error.message : shown(error))
    return 1
  }
}

outliveReaders()
limitPatterns()
// Dawn keeps the process alive for as long as a device exists, so the end is said aloud.
main(process.argv.slice(2)).then((code) => process.exit(code))

// Reads what a command declares: commander knows the options, so their help, their order and what
// is said of a wrong one are the same in every command.
import { Command as Commander, CommanderError, Option } from 'commander'
import { UsageError } from '../base/command.ts'
import type { CommandLine, OptionGroups, OptionSpec, ValuesOf } from '../base/declare.ts'

/** Columns of every help: what fits a terminal and a page of documentation. */
export const HELP_COLUMNS = 100

const NO = /^no-/

function optionOf(name: string, spec: OptionSpec): Option {
  const option = new Option(`--${name}${spec.kind === 'flag' ? '' : ` <${spec.value}>`}`, spec.help)
  if (spec.kind === 'text' && spec.usual !== undefined) option.default(spec.usual)
  if (spec.kind === 'list')
    option.argParser<readonly string[]>((given, before = []) => [...before, given])
  return option
}

/** The command as commander has it. */
function commanderOf({ name, takes, summary, notes = [], groups, examples }: CommandLine) {
  const command = new Commander(name)
    .description([summary, ...notes].join('\n\n'))
    .usage(['[options]', takes].filter(Boolean).join(' '))
    .argument('[names...]')
    .allowExcessArguments(true)
    .helpOption('-h, --help', 'shows this')
    .configureHelp({ helpWidth: HELP_COLUMNS, visibleArguments: () => [] })
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .exitOverride()
  for (const [heading, options] of Object.entries(groups)) {
    command.optionsGroup(`${heading}:`)
    for (const [own, spec] of Object.entries(options)) command.addOption(optionOf(own, spec))
  }
  if (examples.length > 0)
    command.addHelpText(
      'after',
      `\n${['Examples:', ...examples.map((one) => `  npm run -s lab -- ${one}`)].join('\n')}`,
    )
  return command
}

/** The help of a command. */
export function helpOf(line: CommandLine): string {
  let shown = ''
  const command = commanderOf(line).configureOutput({
    writeOut: (part) => {
      shown += part
    },
  })
  command.outputHelp()
  return shown.trimEnd().replace(`Usage: ${line.name}`, `Usage: npm run -s lab -- ${line.name}`)
}

/** What a command line says. Throws UsageError for an option that there is not, naming the nearest,
 * and for a missing value. */
export function readArguments<G extends OptionGroups>(
  line: CommandLine<G>,
  args: readonly string[],
): { readonly values: ValuesOf<G>; readonly positionals: readonly string[] } {
  const command = commanderOf(line)
  try {
    command.parse([...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    throw new UsageError(error.message.replace(/^error: /, '').replace(/\s+/g, ' '))
  }
  const given = command.opts<Record<string, unknown>>()
  const values = Object.fromEntries(
    command.options.map((option) => {
      const name = option.long?.slice(2) ?? ''
      const value = given[option.attributeName()]
      return [
        name,
        NO.test(name) ? value === false : (value ?? (option.isBoolean() ? false : value)),
      ]
    }),
  )
  return { values: values as ValuesOf<G>, positionals: command.args }
}

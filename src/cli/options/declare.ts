// How a command declares what it takes, and how that is read: commander knows the options, so their help, their order and what is said of a
// wrong one are the same in every command.
import { Command as Commander, CommanderError, Option } from 'commander'
import { UsageError } from '../command.ts'

interface TextOption {
  readonly kind: 'text'
  /** What stands for its value in the help, such as DIR. */
  readonly value: string
  readonly help: string
  /** Its value where it is not given. */
  readonly usual?: string
}
interface ListOption {
  readonly kind: 'list'
  readonly value: string
  readonly help: string
}
interface FlagOption {
  readonly kind: 'flag'
  readonly help: string
}
type OptionSpec = TextOption | ListOption | FlagOption

/** An option with a value. */
export const text = (value: string, help: string) => ({ kind: 'text', value, help }) as const
/** An option with a value, and what it is where it is not given. */
export const usually = (usual: string, value: string, help: string) =>
  ({ kind: 'text', value, help, usual }) as const
/** An option with a value that can be given several times. */
export const list = (value: string, help: string) => ({ kind: 'list', value, help }) as const
/** An option without a value. */
export const flag = (help: string) => ({ kind: 'flag', help }) as const

/** Options by their names, in groups by the headings of the help. */
export type OptionGroups = Readonly<Record<string, Readonly<Record<string, OptionSpec>>>>

/** What a command takes. */
export interface CommandLine<G extends OptionGroups = OptionGroups> {
  readonly name: string
  /** Names that follow the command's, such as `<experiment>`; '' = none. */
  readonly takes: string
  /** A line for the list of commands. */
  readonly summary: string
  /** What a person should know besides, a paragraph each. */
  readonly notes?: readonly string[]
  readonly groups: G
  /** Whole command lines after `lab`. */
  readonly examples: readonly string[]
}

type ValueOf<O> = O extends FlagOption
  ? boolean
  : O extends ListOption
    ? readonly string[] | undefined
    : O extends { readonly usual: string }
      ? string
      : string | undefined
type All<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void
  ? I
  : never
/** What was given, by the options' names; undefined or false where an option was not. */
export type ValuesOf<G extends OptionGroups> = {
  readonly [Name in keyof All<G[keyof G]>]: ValueOf<All<G[keyof G]>[Name]>
}

/** A command as it is declared. */
export const commandLine = <const G extends OptionGroups>(line: CommandLine<G>): CommandLine<G> =>
  line

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

/** What a command line says. Throws UsageError for an option that there is not, naming the nearest, and for a missing value. */
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

// Declares what a command takes: names, options in groups with a sentence each, and examples.

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
export type OptionSpec = TextOption | ListOption | FlagOption

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

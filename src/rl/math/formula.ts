// Describes formulas as data: every line a template with the names of numbers in braces, and the
// numbers of one token by those names.

export type Values = Readonly<Record<string, number>>

/** One line: what it gives, and how, with every number's name in braces. */
export interface Line {
  readonly result: string
  readonly template: string
}

/** A formula: lines that build on each other. A line whose result has no value for a token is left
 * out. */
export interface Formula<I> {
  readonly lines: readonly Line[]
  /** Said below it, where something is not in the lines. */
  readonly note?: string | undefined
  /** What people read in place of a name that only this formula has; without an entry they read the
   * name. */
  readonly symbols?: Readonly<Record<string, string>>
  /** The numbers of one token by the names in the templates, results included. */
  values(input: I): Values
}

export const line = (result: string, template: string): Line => ({ result, template })

// Finds the unit of a value axis, as the words of its chart say it.
import { t } from '../../kit/translator.ts'

/** Longer words have no room beside the axis. */
const SHORT: Readonly<Record<string, string>> = { 'tokens per second': 'tok/s', seconds: 's' }

/** From a note or a title that says unit and definition; undefined where it names none. */
export function unitOf(words: string): string | undefined {
  const unit = /(?<!times )\bnats\b|^(?:tokens(?: per second)?|seconds)\b/i
    .exec(words)?.[0]
    .toLowerCase()
  if (unit === undefined) return undefined
  // Behind a number a unit has its own word in another language.
  return t(`1 ${SHORT[unit] ?? unit}`).replace(/^1 (?:个 )?/, '')
}

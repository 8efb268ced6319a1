// Says a study's answer shortly, for a page whose table names every arm.
import type { Analysis } from '../analysis.ts'
import type { Study } from '../study.ts'
import { unitsOf } from './units.ts'
import { answerParts, differenceText, type Said } from './words.ts'

/** What is longer is counted. */
const MOST_NAMES = 3
const MOST_LETTERS = 40

/** `BuPO, layer 2 first`: what is before its first whole number, the number, and what follows. */
const NUMBERED = /^(\D*\b)(\d+)(?![\d.e])(.*)$/

const plural = (before: string): string => before.replace(/\blayer $/, 'layers ')

/** Names in a row that differ by a number that rises by one are said as one: `layers 1–3 alone`. */
export function joinNumbered(names: readonly string[]): readonly string[] {
  const said: string[] = []
  for (let i = 0; i < names.length; ) {
    const [, before, first, after] = NUMBERED.exec(names[i]) ?? []
    let next = i + 1
    if (before !== undefined)
      while (names[next] === `${before}${Number(first) + next - i}${after}`) next++
    const last = Number(first) + next - i - 1
    said.push(next > i + 1 ? `${plural(before)}${first}–${last}${after}` : names[i])
    i = next
  }
  return said
}

/** How many arms it is where their names are many or long. */
function namesOrCount(names: readonly string[], all: number): string {
  const joined = joinNumbered(names)
  if (joined.length <= MOST_NAMES && joined.every(({ length }) => length <= MOST_LETTERS))
    return joined.join('; ')
  return `${names.length} of ${all} arms`
}

function sayShortly(parts: readonly Said[]): string {
  const all = parts.reduce((sum, { names }) => sum + names.length, 0)
  return parts.map(({ says, names }) => `${says}: ${namesOrCount(names, all)}.`).join(' ')
}

/** The answer of `answerSentence` with names that differ by a number in one, and long lists
 * counted; of one arm alone with its difference. */
export function shortAnswer(study: Study, analysis: Analysis): string {
  const parts = answerParts(study, analysis)
  const said = typeof parts === 'string' ? parts : sayShortly(parts)
  const compared = analysis.arms.flatMap(({ comparison }) => comparison ?? [])
  const [only] = compared
  if (compared.length !== 1 || only.pairs.length === 0) return said
  return said.replace(/\.$/, ` (${differenceText(only, unitsOf(analysis.metric))}).`)
}

/** The same of an answer that a report has in words. */
export function shortenAnswer(answer: string): string {
  const sentences = answer.match(
    /(?:(?:Better|Worse) than|Equal to|No difference found|Too few seeds to say).*?: .*?\.(?= [A-Z][a-z]+ (?:than|to|difference|few) |$)/g,
  )
  if (!sentences) return answer
  return sayShortly(
    sentences.map((sentence) => {
      const [, says, names] = /^(.*?): (.*)\.$/.exec(sentence) ?? []
      return { says, names: names.split('; ') }
    }),
  )
}

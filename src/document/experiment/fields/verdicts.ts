// Writes a person's verdicts as text: short enough for a link, and readable.
import type { Verdict } from '../../../rl/config/phase.ts'

const LETTERS = { a: 'a', b: 'b', skip: 's', undo: 'u' } as const satisfies Record<
  Verdict['choice'],
  string
>
const CHOICES = new Map(Object.entries(LETTERS).map(([choice, letter]) => [letter, choice])) as Map<
  string,
  Verdict['choice']
>
const PARTS = /\d+|[absu]/g

/** One letter for each verdict in order: a or b was preferred, s skipped, u took the one before
 * back. A number says after how many steps of the phase the letters behind it were given; without
 * one, before the first: 'abbsa3ab'. */
export function writeVerdicts(verdicts: readonly Verdict[]): string {
  let said = 0
  return verdicts
    .map(({ choice, step }) => {
      const number = step === said ? '' : `${step}`
      said = step
      return number + LETTERS[choice]
    })
    .join('')
}

/** What writeVerdicts wrote; undefined for any other text. */
export function readVerdicts(text: string): Verdict[] | undefined {
  const parts = text.match(PARTS) ?? []
  if (parts.join('') !== text) return undefined
  const verdicts: Verdict[] = []
  let step = 0
  for (const [i, part] of parts.entries()) {
    const choice = CHOICES.get(part)
    if (choice) verdicts.push({ choice, step })
    else {
      const next = Number(part)
      // Steps only go up, and a number without a letter behind it says nothing.
      if (!(next > step) || next > 1e6 || i + 1 === parts.length) return undefined
      step = next
    }
  }
  return verdicts
}

/** The verdicts of an earlier run that a phase repeats. */
export const recordedVerdicts = ({ verdicts }: { readonly verdicts: string | null }): Verdict[] =>
  readVerdicts(verdicts ?? '') ?? []

/** The step after which no verdict is left in force that says anything; undefined where that never
 * is so. */
export function emptyFrom(verdicts: readonly Verdict[]): number | undefined {
  const inForce: Verdict['choice'][] = []
  for (const [i, { choice, step }] of verdicts.entries()) {
    if (choice === 'undo') inForce.pop()
    else inForce.push(choice)
    const isLastOfStep = verdicts[i + 1]?.step !== step
    if (isLastOfStep && !inForce.some((said) => said !== 'skip')) return step
  }
  return undefined
}

// Chooses the findings on screen: all but those that were dismissed and have not become worse
// since.
import { type Diagnosis, isWorse } from '../../record/diagnosis/diagnosis.ts'
import type { Advice } from '../../record/diagnosis/finding.ts'

/** How bad a finding was when it was dismissed, by its key. */
export type Dismissed = ReadonlyMap<string, Pick<Diagnosis, 'is_severe' | 'excess'>>

/** One finding of one phase of one run. */
const findingKey = (run: number, { phase, name }: Pick<Diagnosis, 'phase' | 'name'>) =>
  `${run} ${phase} ${name}`

/** Those to be shown, in their order. */
export const shownFindings = (
  found: readonly Diagnosis[],
  run: number,
  dismissed: Dismissed,
): Diagnosis[] =>
  found.filter((finding) => {
    const before = dismissed.get(findingKey(run, finding))
    return before === undefined || isWorse(finding, before)
  })

/** The same with this finding dismissed as it is now. */
export const withDismissed = (dismissed: Dismissed, run: number, finding: Diagnosis): Dismissed =>
  new Map(dismissed).set(findingKey(run, finding), finding)

/** The advice of all findings, each setting once: in the words of the first finding that names it,
 * with what others add. */
export function eachOnce(found: readonly Pick<Diagnosis, 'advice'>[]): Advice[] {
  const byPath = new Map<string, Advice>()
  for (const one of found.flatMap(({ advice }) => advice)) {
    const before = byPath.get(one.path)
    const text = !before || before.text === one.text ? one.text : `${before.text} ${one.text}`
    byPath.set(one.path, { ...one, text })
  }
  return [...byPath.values()]
}

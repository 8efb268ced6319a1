// Draws what a study that is being written will do: its base, its arms by seeds, and its measure.
import { useMemo } from 'react'
import { type Arm, stepsOf } from '../../../document/study/arms.ts'
import { budgetSays } from '../../../document/study/report/lengths.ts'
import { planSentence } from '../../../document/study/report/words.ts'
import type { Study } from '../../../document/study/study.ts'
import { differenceWords } from '../../../record/run/difference_words.ts'
import { BaseLine } from './BaseLine.tsx'
import { Lengths } from './Lengths.tsx'

/** More arms are counted. */
const MOST = 8

/** '156, in place of 106', where the budget says otherwise than the settings. */
function stepsText({ experiment, stepsAsSet }: Arm): string {
  const steps = stepsOf(experiment)
  return stepsAsSet === undefined ? `${steps}` : `${steps}, in place of ${stepsAsSet}`
}

interface PlanPreviewProps {
  readonly study: Study
  readonly arms: readonly Arm[]
  readonly runs: number
  /** How long all of them take; undefined where nothing is known of it. */
  readonly time: string | undefined
  /** The form says something else by now, which cannot be planned. */
  readonly isPast?: boolean
}

/** What an arm differs in whose name does not say it: from the first, which itself differs from the
 * second. */
function Differs({ arm, arms }: { readonly arm: Arm; readonly arms: readonly Arm[] }) {
  const words = useMemo(() => unsaid(arm, arms), [arm, arms])
  return words === '' ? null : <span className="soft study-differs">{words}</span>
}

/** A few words are enough to tell arms apart. */
const MOST_WORDS = 3

function unsaid(arm: Arm, arms: readonly Arm[]): string {
  const other = arms[0] === arm ? arms[1] : arms[0]
  // One without a name of its own is called by its values.
  if (!other || arm.group === '') return ''
  return differenceWords(arm.experiment, other.experiment)
    .slice(0, MOST_WORDS)
    .filter((words) => !arm.name.includes(words))
    .join(', ')
}

/** Arms by seeds, a run for each cell; a search draws its arms one after the other. */
function Cells({ study, arms }: Pick<PlanPreviewProps, 'study' | 'arms'>) {
  const { seeds } = study
  const rest = arms.length - MOST
  return (
    <div className="study-table" tabIndex={0} role="group" aria-label="Runs of the plan">
      <table data-testid="study-plan-table">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            <th scope="col">Steps</th>
            <th scope="col">Its seeds</th>
          </tr>
        </thead>
        <tbody>
          {arms.slice(0, MOST).map((arm) => (
            <tr key={arm.name}>
              <th scope="row">
                {arm.name}
                <Differs arm={arm} arms={arms} />
              </th>
              <td>{stepsText(arm)}</td>
              <td>{seeds.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 ? <p className="soft">And {rest} arms more.</p> : null}
    </div>
  )
}

/** Where the plan will stand. */
export const NoPlan = () => (
  <section className="study-preview" aria-label="The plan">
    <h3>The plan</h3>
    <p className="soft" data-testid="study-no-plan">
      Arms, seeds and how long they take stand here once the form says what is compared.
    </p>
  </section>
)

export function PlanPreview({ study, arms, runs, time, isPast = false }: PlanPreviewProps) {
  const budget = study.search ? undefined : budgetSays(study, arms)
  return (
    <section className="study-preview" aria-label="The plan" data-past={isPast || undefined}>
      <h3>The plan</h3>
      {isPast ? (
        <p className="bad" data-testid="study-past-plan">
          This was the plan before: what the form says now cannot be planned yet.
        </p>
      ) : null}
      <BaseLine study={study} arms={arms} />
      {study.search ? null : <Cells study={study} arms={arms} />}
      {budget === undefined ? null : (
        <p className="soft" data-testid="study-budget">
          {budget}
        </p>
      )}
      <p data-testid="study-runs">
        {study.search ? null : (
          <span>
            {study.seeds.length === 1
              ? `${arms.length} arms × 1 seed.`
              : `${arms.length} arms × ${study.seeds.length} seeds.`}
          </span>
        )}{' '}
        <span>
          {time === undefined
            ? `${runs} runs in all.`
            : `${runs} runs in all, ${time} on this machine.`}
        </span>
      </p>
      <Lengths study={study} arms={arms} />
      <p className="soft">{planSentence(study, { metric: undefined })}</p>
    </section>
  )
}

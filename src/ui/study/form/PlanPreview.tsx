// Draws what a study that is being written will do: its base, its arms by seeds, and its measure.
import { type Arm, stepsOf } from '../../../document/study/arms.ts'
import { budgetSays } from '../../../document/study/report/lengths.ts'
import { planSentence } from '../../../document/study/report/words.ts'
import type { Study } from '../../../document/study/study.ts'
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
            <th scope="col">Seeds</th>
          </tr>
        </thead>
        <tbody>
          {arms.slice(0, MOST).map((arm) => (
            <tr key={arm.name}>
              <th scope="row">{arm.name}</th>
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

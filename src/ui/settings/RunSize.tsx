// Says how large the chosen run is: weights, and the tokens and the arithmetic of its
// reinforcement.
import { useMemo } from 'react'
import { plannedCosts, weightCount } from '../../document/experiment/costs/costs.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { useLab } from '../shown/run.ts'

const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 3 })

/** Operations with the prefix of their thousand: '3.4 tera-operations'. */
function operationWords(billions: number): string {
  const power = billions < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(billions) / 3))
  const n = Number((billions / 1000 ** power).toPrecision(2))
  return [
    `${n} giga-operations`,
    `${n} tera-operations`,
    `${n} peta-operations`,
    `${n} exa-operations`,
  ][power]
}

/** Of the phases as long as they are with all that is done by hand. */
function sizeOf(experiment: Experiment) {
  const phases = plannedStretches(experiment, experiment.steering).map(
    ({ document, from, to }) => ({ ...document, steps: to - from }),
  )
  return { weights: weightCount(experiment), costs: plannedCosts(experiment, phases) }
}

export function RunSize() {
  const experiment = useLab(nextExperiment)
  const { weights, costs } = useMemo(() => sizeOf(experiment), [experiment])
  const rl =
    costs.tokens > 0
      ? `; reinforcement takes at most ${SHORT.format(costs.tokens)} tokens and ${operationWords(costs.arithmetic)}`
      : ''
  return (
    <p className="soft run-size" data-testid="run-size">
      {SHORT.format(weights)} weights{rl}.
    </p>
  )
}

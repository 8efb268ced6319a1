// Says how large the chosen run is: weights, and the tokens and the arithmetic of its
// reinforcement.
import { useMemo } from 'react'
import { plannedCosts, weightCount } from '../../document/experiment/costs/costs.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { nextExperiment } from '../../page/state/next_experiment.ts'
import { useLab } from '../shown/run.ts'

const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumSignificantDigits: 3 })

const UNITS = [
  ['GFLOP', '10⁹'],
  ['TFLOP', '10¹²'],
  ['PFLOP', '10¹⁵'],
  ['EFLOP', '10¹⁸'],
] as const

/** Operations in the unit of their size: '3.4 TFLOP', and what that is. */
function operationWords(billions: number): { words: string; title: string } {
  const power = billions < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(billions) / 3))
  const [unit, size] = UNITS[power]
  return {
    words: `${Number((billions / 1000 ** power).toPrecision(2))} ${unit}`,
    title: `1 ${unit} is ${size} floating-point operations: here the multiplications and additions in matrix products`,
  }
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
  const operations = operationWords(costs.arithmetic)
  const hasRl = costs.tokens > 0
  const rl = hasRl
    ? `; reinforcement takes at most ${SHORT.format(costs.tokens)} tokens and ${operations.words}`
    : ''
  return (
    <p
      className="soft run-size"
      data-testid="run-size"
      title={hasRl ? operations.title : undefined}
    >
      {SHORT.format(weights)} weights{rl}.
    </p>
  )
}

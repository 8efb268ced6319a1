// Says how large the chosen run is: weights, and the tokens and the arithmetic of its
// reinforcement.
import { useMemo } from 'react'
import { plannedCosts, weightCount } from '../../document/experiment/costs/costs.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'

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

export function RunSize({ experiment }: { readonly experiment: Experiment }) {
  const { weights, costs } = useMemo(
    () => ({ weights: weightCount(experiment), costs: plannedCosts(experiment) }),
    [experiment],
  )
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

// Asks which traced step is shown, and which of its responses.
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { shownText } from '../../../host/protocol/token_text.ts'
import { formatNumber } from '../../kit/format.ts'
import { scrubTo } from '../../open/scrub.ts'
import { useKept } from '../../shown/rested.ts'
import { useStepName } from '../base/looked_end.ts'
import type { Choice } from '../base/sample_choice.ts'
import { releaseTrace } from '../base/view.ts'

/** The token table of one step. */
export interface Trace {
  readonly step: number
  readonly table: TokenTable
}

export const optionText = ({ prompt, response, score }: TracedSample) =>
  `${shownText(prompt)} ${response === '' ? '(nothing)' : shownText(response)}   ${formatNumber(score)}`

const StepOption = ({ step }: { step: number }) => <option value={step}>{useStepName(step)}</option>

/** The steps that were traced and are kept, newest first; the whole page goes to the chosen one. */
function StepChoice({ step }: { step: number }) {
  const { traces } = useKept()
  const steps = traces.items.map((kept) => kept.step).reverse()
  const go = (to: number) => {
    releaseTrace()
    scrubTo(to === steps[0] ? undefined : to)
  }
  return (
    <select
      aria-label="Traced step"
      data-testid="trace-at"
      className="trace-at"
      value={step}
      onChange={({ target }) => go(Number(target.value))}
    >
      {steps.map((one) => (
        <StepOption key={one} step={one} />
      ))}
    </select>
  )
}

export function SampleChoice(props: {
  trace: Trace
  choice: Choice
  shown: number
  onChoice: (choice: Choice) => void
}) {
  const { trace, choice, shown, onChoice } = props
  return (
    <div className="sample-choice">
      {(['best', 'worst'] as const).map((which) => (
        <button
          key={which}
          type="button"
          aria-pressed={choice === which}
          data-testid={`trace-${which}`}
          onClick={() => onChoice(which)}
        >
          {which === 'best' ? 'Best' : 'Worst'}
        </button>
      ))}
      <StepChoice step={trace.step} />
      <select
        aria-label="Response"
        data-testid="trace-sample"
        value={shown}
        onChange={({ target }) => onChoice(Number(target.value))}
      >
        {trace.table.samples.map((sample, i) => (
          // Responses have no other identity than their place.
          <option key={i} value={i}>
            {optionText(sample)}
          </option>
        ))}
      </select>
    </div>
  )
}

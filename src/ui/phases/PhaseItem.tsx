// Draws one phase on the line: its name, how far it has come, and its end, which can be dragged.
import { useState } from 'react'
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'
import { formatSteps } from '../kit/format.ts'
import { t } from '../kit/translator.ts'
import { phaseMark } from '../scales/phase_mark.ts'
import { endWords, methodName, phaseTarget } from '../shown/run.ts'
import { isImported } from '../shown/shown.ts'
import type { BoundaryDrag } from './boundary_drag.ts'
import { keyedSteps, onSegmentKey, type PhaseEdits } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

export interface PhaseItemProps {
  readonly timeline: Timeline
  readonly index: number
  readonly edits: PhaseEdits
  readonly drag: BoundaryDrag
  readonly isSelected: boolean
  readonly onToggle: () => void
}

export function PhaseItem(props: PhaseItemProps) {
  const { timeline, index, drag } = props
  const { phases, present, is_finished, canLengthen } = timeline
  const isCurrent = index === present && !is_finished
  const state = isCurrent ? ' current' : index < present ? ' past' : ''
  return (
    <li
      className={`phase${state}`}
      data-kind={phases[index].kind}
      aria-current={isCurrent ? 'step' : undefined}
      style={drag.widthOf(index)}
    >
      <Segment {...props} isCurrent={isCurrent} />
      {canLengthen(index) ? <Boundary {...props} /> : null}
    </li>
  )
}

type Phase = Timeline['phases'][number]

/** The layer below the last that a phase trains. */
const innerLayer = (phase: Phase, lastLayer: number): number | undefined =>
  'target_layer' in phase && phase.target_layer < lastLayer ? phase.target_layer : undefined

/** What stands for its name where only a few letters fit; the title has the whole. */
function shortName(phase: Phase, lastLayer: number): string {
  if (phase.kind === 'sft') return 'SFT'
  if (phase.kind === 'reward_model') return 'RM'
  const inner = innerLayer(phase, lastLayer)
  return inner === undefined ? 'all' : `L${inner}`
}

/** The steps that a phase has taken, and why it ended. */
function stepsOf(timeline: Timeline, index: number, steps: number, isCurrent: boolean): string {
  const { present, switches, isEnding } = timeline
  const done = timeline.doneOf(index)
  const ended = switches.find((s) => s.phase === index + 1)
  return [
    // One that was shortened while its steps went on has taken more of them.
    done > 0 && done <= steps
      ? `${done} of ${formatSteps(steps)}`
      : formatSteps(Math.max(done, steps)),
    isCurrent && isEnding ? ', ends here' : '',
    index < present && ended ? endWords(ended.reason) : '',
  ].join('')
}

/** How a phase learns, and which layer where its name does not say it; '' where a log does not say
 * it. */
export function methodOf(phase: Phase, lastLayer: number): string {
  if (isImported()) return ''
  const inner = innerLayer(phase, lastLayer)
  const layer = inner === undefined ? '' : `, layer ${inner}`
  return `, ${methodName(phase)}${`, ${phase.name}`.includes(layer) ? '' : layer}`
}

function Segment(props: PhaseItemProps & { readonly isCurrent: boolean }) {
  const { timeline, index, edits, drag, isSelected, isCurrent, onToggle } = props
  const { phases, present } = timeline
  const phase = phases[index]
  const steps = drag.stepsOf(index) ?? phase.steps
  const lastLayer = timeline.experiment.model.num_hidden_layers
  const target = phaseTarget(phase, lastLayer)
  const name = isImported() ? phase.name : `${phase.name}: ${target}, ${methodName(phase)}`
  const [method, setMethod] = useState('')
  const explain = async () => {
    const { meaningIn } = await import('../glossary/find_terms.ts')
    setMethod(meaningIn(methodName(phase)))
  }
  const share = index < present ? 1 : Math.min(1, timeline.doneOf(index) / steps)
  return (
    <button
      type="button"
      className="phase-segment"
      aria-pressed={isSelected}
      aria-label={`Phase ${index + 1}, ${name}, ${formatSteps(steps)}`}
      title={`${t(`${index + 1} ${name}, ${formatSteps(steps)}. Choose it to see its settings, to move or to remove it`)}${method}`}
      onPointerEnter={explain}
      onClick={onToggle}
      onKeyDown={(event) => onSegmentKey(event, index, phase.steps, edits)}
    >
      <span className="phase-track">
        <span className="phase-done" style={{ width: `${share * 100}%` }} />
      </span>
      <span className="phase-name" data-testid={isCurrent ? 'phase-name' : undefined}>
        {timeline.isNext && index === 0 ? <span className="phase-next">next run:</span> : null}
        <span className="phase-mark">{phaseMark(index + 1)}</span>{' '}
        <span
          className="phase-words"
          data-short={shortName(phase, lastLayer)}
          data-layer={innerLayer(phase, lastLayer)}
        >
          <span>{phase.name}</span>
        </span>
      </span>
      <span className="phase-note soft">
        {stepsOf(timeline, index, steps, isCurrent)}
        <span className="phase-method">{methodOf(phase, lastLayer)}</span>
      </span>
    </button>
  )
}

function Boundary({ timeline, index, edits, drag }: PhaseItemProps) {
  const { name, steps: presentSteps } = timeline.phases[index]
  const least = timeline.least(index)
  const dragged = drag.stepsOf(index)
  const steps = dragged ?? presentSteps
  return (
    <div
      role="separator"
      tabIndex={0}
      className="phase-boundary"
      data-testid={`phase-boundary-${index}`}
      aria-orientation="vertical"
      aria-label={`End of phase ${index + 1}, ${name}`}
      aria-valuenow={steps}
      aria-valuemin={least}
      aria-valuemax={MAX_STEPS}
      aria-valuetext={formatSteps(steps)}
      title="Drag, or press the arrow keys, to make the phase longer or shorter"
      onKeyDown={(event) => {
        const wanted = keyedSteps(event, presentSteps, least)
        if (wanted === undefined) return
        edits.lengthen(index, wanted)
        event.preventDefault()
      }}
      onPointerDown={(event) => drag.onGrab(event, index)}
      onPointerMove={drag.onDrag}
      onPointerUp={drag.onDrop}
      onPointerCancel={drag.onCancel}
    >
      {dragged === undefined ? null : <output>{formatSteps(steps)}</output>}
    </div>
  )
}

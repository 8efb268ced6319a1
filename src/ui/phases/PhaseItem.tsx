// Draws one phase on the line: its name, and beside all names how far each has come.
import { useState } from 'react'
import { formatSteps } from '../kit/format.ts'
import { t } from '../kit/translator.ts'
import { phaseMark } from '../scales/phase_mark.ts'
import { endWords, methodName, phaseTarget } from '../shown/run.ts'
import { isImported } from '../shown/shown.ts'
import { onSegmentKey, type PhaseEdits } from './phase_edits.ts'
import type { Line, Timeline } from './timeline.ts'

export interface PhaseItemProps {
  readonly timeline: Timeline
  readonly index: number
  readonly edits: PhaseEdits
  readonly line: Line
  readonly isSelected: boolean
  readonly onToggle: () => void
}

/** The run is in this phase. */
const isCurrent = ({ present, is_finished }: Timeline, index: number): boolean =>
  index === present && !is_finished

/** A name is wide enough to be pressed, however short its phase. */
export function PhaseItem(props: PhaseItemProps) {
  const { timeline, index, line } = props
  const isNow = isCurrent(timeline, index)
  return (
    <li
      className={isNow ? 'phase current' : 'phase'}
      aria-current={isNow ? 'step' : undefined}
      style={line.widthOf(index)}
    >
      <Segment {...props} isCurrent={isNow} />
    </li>
  )
}

/** Fills as wide as the phases are long: they lie on the steps below. */
export function PhaseFills(props: { readonly timeline: Timeline; readonly line: Line }) {
  const { timeline, line } = props
  const { phases, present } = timeline
  return (
    <div className="phase-fills">
      {phases.map(({ kind, steps }, i) => {
        const share = i < present ? 1 : timeline.doneOf(i) / (line.draggedSteps(i) ?? steps)
        return (
          <span
            // As in the list of phases.
            key={i}
            className={isCurrent(timeline, i) ? 'phase-track current' : 'phase-track'}
            data-kind={kind}
            style={line.widthOf(i)}
          >
            <span className="phase-done" style={{ width: `${Math.min(100, share * 100)}%` }} />
          </span>
        )
      })}
    </div>
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
  const { timeline, index, edits, line, isSelected, isCurrent, onToggle } = props
  const phase = timeline.phases[index]
  const steps = line.draggedSteps(index) ?? phase.steps
  const lastLayer = timeline.experiment.model.num_hidden_layers
  const target = phaseTarget(phase, lastLayer)
  const name = isImported() ? phase.name : `${phase.name}: ${target}, ${methodName(phase)}`
  const [method, setMethod] = useState('')
  const explain = async () => {
    const { meaningIn } = await import('../glossary/find_terms.ts')
    setMethod(meaningIn(methodName(phase)))
  }
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

// Draws one step of reinforcement stage by stage, by itself or by hand.
import { ChevronLeft, ChevronRight, Pause, Play, Square } from 'lucide-react'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useMedia } from '../../kit/use_media.ts'
import { STAGES, type Told } from './stages.ts'

/** undefined: the whole step at once. */
export type StageIndex = number | undefined

/** Milliseconds that slow motion stays at a stage. */
const STAGE_MS = 4000

/** Goes from stage to stage by itself while it plays, and by keys. */
function useSlowMotion(stage: StageIndex, onStage: (stage: StageIndex) => void) {
  const [isPlaying, setPlaying] = useState(false)
  const last = STAGES.length - 1
  useEffect(() => {
    if (!isPlaying) return
    const timer = setTimeout(() => {
      if (stage === last) setPlaying(false)
      else onStage((stage ?? -1) + 1)
    }, STAGE_MS)
    return () => clearTimeout(timer)
  }, [isPlaying, stage, onStage, last])
  const go = (to: StageIndex) => {
    setPlaying(false)
    onStage(to)
  }
  // At an end a button stays focusable, or the keys would go nowhere.
  const next = () => go(Math.min(last, (stage ?? -1) + 1))
  const back = () => go(stage === undefined || stage === 0 ? undefined : stage - 1)
  const onKey = (event: KeyboardEvent) => {
    const act = { ArrowLeft: back, ArrowRight: next, Escape: () => go(undefined) }[event.key]
    if (!act || (event.key === 'Escape' && stage === undefined)) return
    event.preventDefault()
    act()
  }
  const play = () => {
    setPlaying(!isPlaying)
    if (!isPlaying && (stage === undefined || stage === last)) onStage(0)
  }
  return { isPlaying, last, go, next, back, play, onKey }
}

function PlayButton(props: { readonly isPlaying: boolean; readonly onPlay: () => void }) {
  const { isPlaying, onPlay } = props
  return (
    <button type="button" data-testid="stage-play" onClick={onPlay}>
      {isPlaying ? (
        <Pause className="icon" aria-hidden="true" />
      ) : (
        <Play className="icon" aria-hidden="true" />
      )}
      {isPlaying ? 'Pause' : 'Slow motion'}
    </button>
  )
}

function StageButtons({
  stage,
  onStage,
}: {
  stage: StageIndex
  onStage: (to: StageIndex) => void
}) {
  return (
    <ol>
      {STAGES.map(({ title }, i) => (
        <li key={title}>
          <button
            type="button"
            className={`plain ${stage === i ? 'current' : ''}`}
            aria-current={stage === i ? 'step' : undefined}
            aria-label={`${i + 1}: ${title}`}
            title={title}
            data-testid={`stage-${i + 1}`}
            onClick={() => onStage(stage === i ? undefined : i)}
          >
            {i + 1}
          </button>
        </li>
      ))}
    </ol>
  )
}

/** What happens at a stage, in words about this response. */
function StageWords({ told, stage }: { told: Told; stage: StageIndex }) {
  return (
    <p role="status" data-testid="stage-says">
      {stage === undefined ? (
        <span className="soft">
          Walk through this step in seven stages, or read the whole table.
        </span>
      ) : (
        <>
          <b>
            {stage + 1}. {STAGES[stage].title}.
          </b>{' '}
          {STAGES[stage].says(told)}
        </>
      )}
    </p>
  )
}

/** Seven stages to walk through, by itself or by hand; Escape shows the whole step again. */
export function SlowMotion(props: {
  told: Told
  stage: StageIndex
  onStage: (stage: StageIndex) => void
}) {
  const { told, stage, onStage } = props
  const { isPlaying, last, go, next, back, play, onKey } = useSlowMotion(stage, onStage)
  const isStill = useMedia('(prefers-reduced-motion: reduce)')
  return (
    <div className="slow-motion" role="group" aria-label="Slow motion" onKeyDown={onKey}>
      <div className="slow-motion-bar">
        <button
          type="button"
          data-testid="stage-back"
          aria-label="Back"
          aria-disabled={stage === undefined}
          onClick={back}
        >
          <ChevronLeft className="icon" aria-hidden="true" />
        </button>
        {/* Nothing moves by itself for those who asked for that. */}
        {isStill ? null : <PlayButton isPlaying={isPlaying} onPlay={play} />}
        <button
          type="button"
          data-testid="stage-next"
          aria-label="Next stage"
          aria-disabled={stage === last}
          onClick={next}
        >
          <ChevronRight className="icon" aria-hidden="true" />
        </button>
        <StageButtons stage={stage} onStage={go} />
        <button
          type="button"
          data-testid="stage-whole"
          aria-disabled={stage === undefined}
          title="Show the whole step again (Esc)"
          onClick={() => go(undefined)}
        >
          <Square className="icon" aria-hidden="true" />
          Whole step
        </button>
      </div>
      <StageWords told={told} stage={stage} />
    </div>
  )
}

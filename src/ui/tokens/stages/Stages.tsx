// Draws one step of reinforcement, token by token, and in slow motion.
import { Search } from 'lucide-react'
import { useEffect, useMemo } from 'react'
import type { LabState } from '../../../page/state/store.ts'
import { selectIsBusy, selectStatus, useLab } from '../../shown/run.ts'
import { useIsPast } from '../../shown/shown.ts'
import {
  holdTrace,
  releaseTrace,
  type TokensView,
  tokensStore,
  traceNow,
  useShownTrace,
  useTokens,
} from '../base/view.ts'
import { useTraceTip, useWhyNoTrace } from '../base/why_no_trace.ts'
import { Walk } from './Walk.tsx'

const selectIsTracing = (state: LabState) => state.isTracing
const selectIsFollowing = ({ isFollowing }: TokensView) => isFollowing

/** Between two steps that are followed: long enough to see something. */
const FOLLOW_MS = 800

/** Asks for the next step again and again during the run. */
function useFollowing(isFollowing: boolean): void {
  const isRunning = useLab(selectStatus) === 'running'
  const isTracing = useLab(selectIsTracing)
  useEffect(() => {
    if (!isFollowing || !isRunning || isTracing) return
    const timer = setTimeout(traceNow, FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [isFollowing, isRunning, isTracing])
}

/** Asks for the next step, once or again and again. */
function TraceActions({ isPast }: { readonly isPast: boolean }) {
  const isTracing = useLab(selectIsTracing)
  const isBusy = useLab(selectIsBusy)
  const isFollowing = useTokens(selectIsFollowing)
  const whyNot = useWhyNoTrace()
  const tip = useTraceTip()
  if (whyNot !== undefined && !isPast) return <p className="soft">{whyNot}</p>
  return (
    <div className="profiler-actions" hidden={isPast}>
      <label className="stages-follow">
        <input
          type="checkbox"
          data-testid="trace-follow"
          checked={isFollowing}
          onChange={({ target }) => {
            releaseTrace()
            tokensStore.setState({ isFollowing: target.checked })
          }}
        />
        Follow
      </label>
      <button
        type="button"
        data-testid="trace-step"
        disabled={!isBusy || isTracing}
        title={tip}
        onClick={traceNow}
      >
        <Search className="icon" aria-hidden="true" />
        {isTracing ? 'Waiting for a step' : 'Trace the next step'}
      </button>
    </div>
  )
}

export function Stages() {
  const item = useShownTrace()
  const trace = useMemo(() => item && { step: item.step, table: item.item }, [item])
  const isPast = useIsPast()
  const isTracing = useLab(selectIsTracing)
  useFollowing(useTokens(selectIsFollowing) && !isPast)
  return (
    <section className="card stages" aria-labelledby="stages-title" data-testid="stages">
      <div className="profiler-head">
        <h2 id="stages-title">One step, token by token</h2>
        <TraceActions isPast={isPast} />
      </div>
      {trace ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: nothing is operated; a step that is being read stays.
        <div className="stages-walk" onPointerDown={holdTrace} onFocus={holdTrace}>
          <Walk trace={trace} />
        </div>
      ) : (
        <p className="soft">
          {isPast
            ? 'No step of this run was traced token by token. Where a state of it is kept, “Look now” in this tab traces the step after it.'
            : isTracing
              ? 'The next step of reinforcement appears here. A warm start samples nothing, so it has nothing to show.'
              : 'Shows what one step of reinforcement computes for every token: log-probs, rewards, advantages, ratios, and the formulas with their numbers. The step costs one more pass; its results stay the same.'}
        </p>
      )}
    </section>
  )
}

// Draws what has steps traced for the inspector, or says why none can be.
import { Search } from 'lucide-react'
import { observeEvery } from '../../../page/client/observing.ts'
import type { LabState } from '../../../page/state/store.ts'
import { WriteWithShown } from '../../open/models/WriteWithIt.tsx'
import { selectIsBusy, useLab } from '../../shown/run.ts'
import { useIsPast } from '../../shown/shown.ts'
import { tokensStore, traceNow } from '../base/view.ts'
import { useTraceTip, useWhyNoTrace } from '../base/why_no_trace.ts'

const selectIsTracing = (state: LabState) => state.isTracing
const set = tokensStore.setState

/** Traces every step while the panel is open, or the next one. */
export function TraceActions(props: { isAlong: boolean; isLiving: boolean; hasButton: boolean }) {
  const { isAlong, isLiving, hasButton } = props
  const isTracing = useLab(selectIsTracing)
  const isBusy = useLab(selectIsBusy)
  const isPast = useIsPast()
  const whyNot = useWhyNoTrace()
  const tip = useTraceTip()
  const every = useLab(observeEvery)
  if (whyNot !== undefined && !isPast)
    return (
      <div className="profiler-actions">
        <span className="soft">{whyNot}</span>
        <WriteWithShown />
      </div>
    )
  return (
    <div className="profiler-actions">
      {/* No step of a past run is to come. */}
      <label hidden={isPast} className="inspector-check">
        <input
          type="checkbox"
          data-testid="trace-along"
          checked={isAlong}
          onChange={({ target }) => set({ isTracingAlong: target.checked })}
        />
        {every === 1
          ? 'Trace steps while this is open'
          : `Trace the next step and every ${every}th while this is open`}
      </label>
      {hasButton ? (
        <button
          type="button"
          data-testid="trace-now"
          disabled={!isBusy || !isLiving || isTracing}
          title={tip}
          onClick={traceNow}
        >
          <Search className="icon" aria-hidden="true" />
          {isTracing ? 'Waiting for a step' : 'Trace now'}
        </button>
      ) : null}
      <WriteWithShown />
    </div>
  )
}

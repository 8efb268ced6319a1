// Says why there is no layer to suggest yet, and what to do about it: a run that is over is
// measured at a state that it kept.
import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { editField } from '../../../page/client/edits.ts'
import { wantObserved } from '../../../page/client/observing.ts'
import type { LabState } from '../../../page/state/store.ts'
import { stateToMeasure } from '../../../record/diagnosis/inner_layer.ts'
import { formatCount } from '../../kit/format.ts'
import { useKeptSteps, useRecordOver } from '../../look/kept_states.ts'
import { type Look, lookNow, lookStore } from '../../look/look_now.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { useWhyBusy } from '../../look/why_busy.ts'
import { useOpenedEntry } from '../../open/opened_run.ts'
import { showSetting } from '../../open/wanted.ts'
import { shownExperiment, useLab } from '../../shown/run.ts'
import { isImported, useIsPast, useShown } from '../../shown/shown.ts'
import { useVisible } from '../../shown/visible.ts'
import { selectRlStart, tell } from './changes.ts'

const selectSettings = (state: LabState) => state.experiment
const selectLook = ({ look }: { readonly look: Look | undefined }) => look

/** The run began with its own document, which makes the same beginning again. */
const selectCanBegin = ({ runDocument, parent }: LabState): boolean =>
  runDocument !== undefined && parent === undefined && !isImported()

/** What a press of the button measures. */
function offerWords(state: number | 'beginning', rlStart: number | undefined): string {
  if (state === 'beginning')
    return 'This run did not measure which layer to train first before it trained. Its beginning can be made again, with its seed, and measured now, on a copy.'
  return `This run did not measure which layer to train first before it trained. Its state after step ${formatCount(state)} is kept${
    state === rlStart ? ', where reinforcement began' : ''
  }: it can be measured now, on a copy.`
}

/** Of a run that is over: a look into one of its states measures it. With `until` nothing where no
 * state up to that step is kept. */
export function MeasureKept(props: {
  readonly record: string
  readonly until?: number | undefined
}) {
  const { record, until } = props
  const look = useStore(lookStore, selectLook)
  const whyBusy = useWhyBusy()
  const rlStart = useShown(selectRlStart)
  const past = useOpenedEntry()
  const canBegin = useShown(selectCanBegin) && past?.header.parent === undefined
  const state = stateToMeasure(useKeptSteps(record), rlStart, canBegin)
  const isPast = useIsPast()
  const own = look?.record === record ? look : undefined
  if (until !== undefined && typeof state === 'number' && state > until) return null
  if (until !== undefined && state === undefined) return null
  if (state === undefined)
    return (
      <>
        <p className="soft" data-testid="suggested-gone">
          This run did not measure which layer to train first, and no state of it is kept that could
          be measured now.
        </p>
        {isPast ? null : <NextRun />}
      </>
    )
  return (
    <div className="suggested-apply">
      <p className="soft" role="status">
        {own && !own.isBusy && own.words !== '' ? own.words : offerWords(state, rlStart)}
      </p>
      <button
        type="button"
        data-testid="measure-kept"
        disabled={whyBusy !== undefined || look?.isBusy}
        title={whyBusy}
        onClick={() =>
          void lookNow(record, state === 'beginning' ? state : { step: state }, {
            stays: true,
            isStateOnly: true,
          })
        }
      >
        {own?.isBusy ? 'Measuring …' : 'Measure it'}
      </button>
    </div>
  )
}

/** Of a run to come. */
function NextRun() {
  const { probe, validation } = useLab(selectSettings)
  const shown = useLab(shownExperiment)
  if (!probe.internals)
    return (
      <div className="suggested-apply">
        <p className="soft">
          Says which layer to train first: the last whose feed-forward block still adds entropy.
          “Entropy changes” measures it in steps that validate, for one more pass in each.
        </p>
        <button
          type="button"
          data-testid="measure-internals"
          onClick={() => tell(editField('probe.internals', true), 'The next run measures it.')}
        >
          Measure it in the next run
        </button>
      </div>
    )
  if (validation.test_freq === null)
    return (
      <div className="suggested-apply">
        <p className="soft">It is measured in steps that validate, and this run has none.</p>
        <button type="button" onClick={() => showSetting('validation.test_freq')}>
          Show the setting
        </button>
      </div>
    )
  return (
    <p className="soft" data-testid="suggested-waits">
      {shown.probe.internals
        ? 'The next step that validates measures it.'
        : 'This run does not measure it; the next one does.'}
    </p>
  )
}

/** While a run is on: what the figures see of its next step answers. */
function Awaited({ next }: { readonly next: string }) {
  const place = useRef<HTMLParagraphElement>(null)
  const isVisible = useVisible(place)
  useEffect(() => {
    if (isVisible) return wantObserved('suggested', { groups: ['flow'] })
  }, [isVisible])
  return (
    <p ref={place} className="soft" data-awaited data-testid="suggested-awaited">
      {`Not measured yet. ${next}`}
    </p>
  )
}

export function Unmeasured() {
  const record = useRecordOver()
  const isPast = useIsPast()
  const next = useNextObserved()
  if (next !== undefined && !isPast) return <Awaited next={next} />
  if (record !== undefined) return <MeasureKept key={record} record={record} />
  if (isPast) return <p className="soft">This run did not measure which layer to train first.</p>
  return <NextRun />
}

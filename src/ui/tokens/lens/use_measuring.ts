// Measures a response that was sent to the lens, whatever step the page shows: a run that is on by
// its next steps, one that is over by a look at a kept state.
import { useEffect } from 'react'
import { useKeptSteps, useRecordOver } from '../../look/kept_states.ts'
import { lookNow } from '../../look/look_now.ts'
import { useWhyBusy } from '../../look/why_busy.ts'
import { scrubTo } from '../../open/scrub.ts'
import { useIsLiving } from '../../shown/rested.ts'
import { selectIsBusy, useLab } from '../../shown/run.ts'
import { useAtStep } from '../../shown/shown.ts'
import { type LensView, lensStore, useLens } from './store.ts'

/** The kept state that is looked at from the shown step: the last one up to it, which shows there,
 * else the last of all. Newest first; undefined where none is kept. */
export const stateFor = (steps: readonly number[], atStep: number | undefined) =>
  steps.find((step) => atStep === undefined || step <= atStep) ?? steps.at(0)

const selectIsAwaited = ({ isAwaited }: LensView) => isAwaited

/** `isVisible`: the panel asks for what it shows only then. `isSeen`: the chosen text has been
 * measured up to the shown step. */
export function useMeasuring(isVisible: boolean, isSeen: boolean): void {
  const isAwaited = useLens(selectIsAwaited)
  const atStep = useAtStep()
  const isOn = useLab(selectIsBusy)
  const isLiving = useIsLiving()
  const record = useRecordOver()
  const whyBusy = useWhyBusy()
  const step = stateFor(useKeptSteps(record ?? ''), atStep)
  useEffect(() => {
    if (!isAwaited || !isVisible) return
    const hasEnded = () => lensStore.setState({ isAwaited: false })
    if (isSeen) return hasEnded()
    if (isLiving && isOn) {
      hasEnded()
      // What is measured now is of the newest step.
      return scrubTo(undefined)
    }
    // Which states are kept may still be read.
    if (record === undefined || whyBusy !== undefined || step === undefined) return
    hasEnded()
    const stays = atStep !== undefined && step <= atStep
    void lookNow(record, { step }, { stays, isStateOnly: true })
  }, [isAwaited, isVisible, isSeen, isOn, isLiving, record, whyBusy, step, atStep])
}

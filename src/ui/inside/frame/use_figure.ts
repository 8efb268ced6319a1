// Serves every figure of the tab Inside: asks for its numbers while it is in view, and finds those
// of the shown step.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { ObservedGroup } from '../../../host/protocol/observation.ts'
import { wantObserved } from '../../../page/client/observing.ts'
import type { LabState } from '../../../page/state/store.ts'
import { type Look, lookStore } from '../../look/look_now.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { shownStore, useAtStep, useShown, viewStore } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import {
  costWords,
  emptyWords,
  firstObserved,
  isOtherBasis,
  type ObservedQuantity,
  observedAt,
  refusedWords,
  type Seen,
  stepWords,
  tokensWords,
} from '../base/observed.ts'

/** Whether an element can be seen: on screen, or nearly, and in no closed fold. */
export function useVisible(): {
  readonly ref: RefObject<HTMLDivElement | null>
  isVisible: boolean
} {
  const ref = useRef<HTMLDivElement>(null)
  const [isVisible, setVisible] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries[entries.length - 1].isIntersecting),
      { rootMargin: '64px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, isVisible }
}

const selectIsPast = ({ viewed }: { viewed: LabState | undefined }) => viewed !== undefined
const selectKept = ({ kept }: LabState) => kept.observations
const keptVersion = () => shownStore.getState().keptVersion
const asleep = () => -1
const selectLooked = ({ look }: { readonly look: Look | undefined }) => look

export interface FigureState {
  readonly ref: RefObject<HTMLDivElement | null>
  readonly isVisible: boolean
  /** Of the shown step, or the newest before it that has what is drawn. */
  readonly seen: Seen | undefined
  /** Which step is shown, or why none is. */
  readonly words: string
  /** How many tokens its numbers are of. */
  readonly count: string | undefined
  /** It is of other tokens than the run's own numbers. */
  readonly isOther?: boolean | undefined
  /** There is nothing to draw. */
  readonly isEmpty: boolean
  /** But a step that is measured soon has it. */
  readonly awaits?: boolean
  /** What its probe costs. */
  readonly cost: string | undefined
}

/** The state of one figure. `groups` are measured while it is visible; it draws observations that
 * hold all `quantities`. Both are constants. `layer` is the one that kl_of_layer is to be measured
 * from. Renders at most with every frame, and not out of view. */
export function useFigure(
  id: string,
  groups: readonly ObservedGroup[],
  quantities: readonly ObservedQuantity[],
  layer?: number,
): FigureState {
  const { ref, isVisible } = useVisible()
  const isPast = useStore(viewStore, selectIsPast)
  useEffect(() => {
    if (!isVisible || isPast) return
    return wantObserved(id, layer === undefined ? { groups } : { groups, layer })
  }, [id, groups, layer, isVisible, isPast])
  const kept = useShown(selectKept)
  useStore(uiStore, isVisible ? keptVersion : asleep)
  // What a look has filled can be out of view.
  useStore(lookStore, selectLooked)
  const atStep = useAtStep()
  const next = useNextObserved()
  const seen = observedAt(kept, atStep, quantities)
  const first = seen ? undefined : firstObserved(kept, quantities)
  return {
    ref,
    isVisible,
    seen,
    isOther: seen && isOtherBasis(seen, kept),
    isEmpty: !seen,
    awaits: !seen && !isPast && next !== undefined,
    words: seen
      ? stepWords(seen.step, atStep)
      : (refusedWords(kept, atStep, groups) ?? emptyWords({ isPast, next, atStep, first })),
    count: seen && tokensWords(seen.item),
    cost: seen && costWords(seen.item, groups),
  }
}

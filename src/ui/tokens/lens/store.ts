// Holds what the layer lens looks at, and how; it is still there when its tab opens again.
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Lens, LensSample, Observation } from '../../../host/protocol/observation.ts'
import { labStore } from '../../../page/state/store.ts'
import type { KeptItem } from '../../../record/run/kept.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { shownStore } from '../../shown/shown.ts'
import { openTab } from '../../shown/store.ts'
import { type LensKind, lensOf, textKey } from './lens.ts'

/** A response that was sent here, the step of a run it was shown in, and the task that it
 * answers. */
export interface SentSample {
  readonly sample: LensSample
  readonly since: number
  /** The run's id. */
  readonly record: string
  /** The task's id. */
  readonly task: string
}

export type Compare = 'alone' | 'beside' | 'difference'

export interface LensView {
  /** Newest last. */
  readonly sent: readonly SentSample[]
  /** textKey; undefined for the first text there is. */
  readonly chosen: string | undefined
  readonly kind: LensKind
  readonly compare: Compare
  /** The step that is compared with; undefined for the first that was kept. */
  readonly other: number | undefined
  readonly layer: number
  /** undefined: where token `t` of the response was written. */
  readonly position: number | undefined
  readonly t: number
  /** The panel is to be scrolled to and to have the focus. */
  readonly isWanted: boolean
  /** The chosen text was sent just now, and is to be measured where it was not. */
  readonly isAwaited: boolean
}

/** The most responses that are measured together. */
export const MAX_SENT = 4

export const lensStore = createStore<LensView>(() => ({
  sent: [],
  chosen: undefined,
  kind: 'raw',
  compare: 'alone',
  other: undefined,
  layer: Number.POSITIVE_INFINITY,
  position: undefined,
  t: 0,
  isWanted: false,
  isAwaited: false,
}))

// A new run begins with its first held-out text.
labStore.subscribe(({ run }, before) => {
  if (run !== before.run)
    lensStore.setState({ chosen: undefined, position: undefined, t: 0, isAwaited: false })
})

/** A part of the view; `selector` is a module-level function. */
export const useLens = <T>(selector: (view: LensView) => T): T => useStore(lensStore, selector)

/** What was sent of a task: a text of another one is no problem that this run has learned, nor need
 * it have tokens for it. */
export const sentOf = (sent: readonly SentSample[], task: string): readonly SentSample[] =>
  sent.filter((one) => one.task === task)

/** Measures a response from now on, and shows its token `t`; of too many of its task the
 * oldest is dropped. */
export function lookThrough(sample: LensSample, since: number, task: string, t: number): void {
  const key = textKey(sample)
  const { record } = shownStore.getState()
  lensStore.setState(({ sent }) => {
    const own = sentOf(sent, task)
    const isSent = own.some((one) => textKey(one.sample) === key && one.record === record)
    const others = own.filter((one) => textKey(one.sample) !== key)
    return {
      sent: isSent
        ? sent
        : [
            ...sent.filter((one) => one.task !== task),
            ...[...others, { sample, since, record, task }].slice(-MAX_SENT),
          ],
      chosen: key,
      position: undefined,
      t,
      isWanted: true,
      isAwaited: true,
    }
  })
  openTab('inside')
}

/** Looks at a response no longer. */
export function lookAway(key: string): void {
  lensStore.setState(({ sent, chosen, t }) => ({
    sent: sent.filter(({ sample }) => textKey(sample) !== key),
    ...(chosen === key ? { chosen: undefined, t: 0 } : { chosen, t }),
  }))
}

/** The newest kept step at or before `atStep` that measured a text. */
export function lensItem(
  { observations }: KeptOfRun,
  key: string | undefined,
  atStep: number | undefined,
): { readonly item: KeptItem<Observation>; readonly lens: Lens } | undefined {
  const { items } = observations
  for (let i = items.length - 1; i >= 0; i--) {
    if (atStep !== undefined && items[i].step > atStep) continue
    const lens = lensOf(items[i].item, key)
    if (lens) return { item: items[i], lens }
  }
  return undefined
}

/** Steps that measured a text, oldest first. */
export const lensSteps = ({ observations }: KeptOfRun, key: string | undefined): number[] =>
  observations.items.filter(({ item }) => lensOf(item, key)).map(({ step }) => step)

/** A text that can be chosen. */
export interface LensText {
  readonly key: string
  readonly sample: LensSample
  /** Of a sent one. */
  readonly since: number | undefined
  /** It was sent from a run that is not the one of the lens. */
  readonly isOfOther: boolean
}

/** Held-out texts of the newest step at or before `atStep` that had any, then what was sent from
 * the run `record`, or was measured in it. */
export function lensTexts(
  kept: KeptOfRun,
  sent: readonly SentSample[],
  atStep: number | undefined,
  record: string,
): readonly LensText[] {
  const { observations } = kept
  const seen = observations.items.findLast(
    ({ step, item }) =>
      (atStep === undefined || step <= atStep) && item.lenses.some((lens) => lens.is_held_out),
  )
  const texts = [
    ...(seen?.item.lenses ?? [])
      .filter(({ is_held_out }) => is_held_out)
      .map((sample) => ({ key: textKey(sample), sample, since: undefined, isOfOther: false })),
    ...sent
      .map((one) => ({ ...one, key: textKey(one.sample), isOfOther: one.record !== record }))
      .filter(({ key, isOfOther }) => !isOfOther || lensSteps(kept, key).length > 0),
  ]
  // A held-out answer that was also sent is one text.
  return texts.filter(({ key }, i) => texts.findIndex((other) => other.key === key) === i)
}

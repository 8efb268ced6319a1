// Holds what is selected in the tokens of a run: shared by the inspector and the seven stages, and
// kept while the tab is closed.
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { TokenTable } from '../../../host/protocol/results.ts'
import { traceStep } from '../../../page/client/controls.ts'
import type { KeptItem } from '../../../record/run/kept.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { lookStore } from '../../look/look_now.ts'
import { useKept } from '../../shown/rested.ts'
import { shownStore, useAtStep } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import type { LayerReadout, Mode } from './colours.ts'
import type { Opened } from './inspect.ts'
import type { Choice } from './sample_choice.ts'

/** Where the panels stand below each other. */
export const NARROW = '(max-width: 899px)'

export interface TokenPlace {
  /** Of the response in its step. */
  readonly place: number
  readonly t: number
}

/** Where a number stands in the table of the seven stages. */
export interface CellPlace {
  readonly t: number
  readonly column: number
}

export interface TokensView extends Opened {
  /** A traced step that stays while it is read, and what it was kept with. */
  readonly held: { readonly kept: KeptOfRun; readonly trace: KeptItem<TokenTable> } | undefined
  /** Steps are traced again and again, and the newest is shown. */
  readonly isFollowing: boolean
  /** The panel has observed steps traced while it is seen. */
  readonly isTracingAlong: boolean
  /** The response in the seven stages. */
  readonly choice: Choice
  /** The number that is explained there. */
  readonly cell: CellPlace
  /** Of STAGES, the one that is walked through; undefined for the whole step. */
  readonly stage: number | undefined
  readonly mode: Mode
  /** Of `layer_entropy`. */
  readonly layer: number
  readonly readout: LayerReadout
  readonly isInformativeOnly: boolean
  /** Samples of the newest step are shown though another one was traced: of the run that kept
   * this, and of no other. */
  readonly newestSamplesOf: KeptOfRun | undefined
  /** Pages of its responses that are drawn. */
  readonly pages: number
  readonly cursor: TokenPlace
  /** The token of which a phone shows the details, below its response. */
  readonly tapped: TokenPlace | undefined
}

export const tokensStore = createStore<TokensView>(() => ({
  held: undefined,
  isFollowing: false,
  isTracingAlong: true,
  choice: 'best',
  cell: { t: 0, column: 0 },
  stage: undefined,
  mode: 'advantages',
  layer: 0,
  readout: 'raw',
  order: 'differing',
  isInformativeOnly: false,
  query: '',
  newestSamplesOf: undefined,
  open: undefined,
  openFound: undefined,
  pages: 1,
  cursor: { place: 0, t: 0 },
  tapped: undefined,
}))

/** A part of the view; `selector` is a module-level function. */
export const useTokens = <T>(selector: (view: TokensView) => T): T =>
  useStore(tokensStore, selector)

/** What is shown of the traced steps: at the page's step, else the one that is held, else the
 * newest. */
export function traceOf(
  kept: KeptOfRun,
  atStep: number | undefined,
  held: TokensView['held'],
): KeptItem<TokenTable> | undefined {
  return atStep === undefined && held?.kept === kept ? held.trace : kept.traces.at(atStep)
}

const selectHeld = ({ held }: TokensView) => held

/** The traced step that the page shows. */
export function useShownTrace(): KeptItem<TokenTable> | undefined {
  return traceOf(useKept(), useAtStep(), useTokens(selectHeld))
}

/** Keeps the shown step in its place while someone reads it; not where a person follows the steps
 * or has chosen one. */
export function holdTrace(): void {
  const { held, isFollowing } = tokensStore.getState()
  const { atStep } = uiStore.getState()
  const { kept } = shownStore.getState()
  if (isFollowing || atStep !== undefined || held?.kept === kept) return
  const trace = kept.traces.at(undefined)
  if (trace) readTrace(kept, trace)
}

/** Shows a traced step until another one is asked for. */
export const readTrace = (kept: KeptOfRun, trace: KeptItem<TokenTable>): void =>
  tokensStore.setState({ held: { kept, trace } })

export const releaseTrace = (): void => tokensStore.setState({ held: undefined })

// Who looks into a state of a run from its tokens wants to see what that found; from another tab,
// the step that is being read is still there on the way back.
lookStore.subscribe(({ look }, before) => {
  if (before.look?.isBusy && !look?.isBusy && uiStore.getState().tab === 'tokens') releaseTrace()
})

/** Has the next step of reinforcement traced, and shows it. */
export function traceNow(): void {
  releaseTrace()
  traceStep()
}

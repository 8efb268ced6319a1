// Draws the layer lens: what every layer would say next at every position of one text, now and at
// another step.

import { useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { Lens } from '../../../host/protocol/observation.ts'
import { SIGNS_SAY } from '../../../host/protocol/token_text.ts'
import { wantObserved } from '../../../page/client/observing.ts'
import type { LabState } from '../../../page/state/store.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { Words } from '../../glossary/Words.tsx'
import { formatNumber } from '../../kit/format.ts'
import { LookAtLast } from '../../look/LookNow.tsx'
import { lookStore, selectLooking } from '../../look/look_now.ts'
import { useNextObserved } from '../../look/next_observed.ts'
import { useWhyBusy } from '../../look/why_busy.ts'
import { Fold } from '../../part/Fold.tsx'
import { ONE_HELD_OUT, ONE_OF_BATCH, READ, reads } from '../../plot/reads.ts'
import { useIsLiving, useKept } from '../../shown/rested.ts'
import { shownExperiment } from '../../shown/run.ts'
import { useAtStep, useShown } from '../../shown/shown.ts'
import { useVisible } from '../../shown/visible.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { swatches } from '../base/colours.ts'
import { Legend, Shades } from '../base/Legend.tsx'
import { CellDetail } from './CellDetail.tsx'
import { type Against, type CellPlace, LensGrid } from './LensGrid.tsx'
import { largestChange, layersOf, lensSummary, points } from './lens.ts'
import { Options } from './Options.tsx'
import {
  type LensText,
  type LensView,
  lensItem,
  lensSteps,
  lensStore,
  lensTexts,
  sentOf,
  useLens,
} from './store.ts'
import { useMeasuring } from './use_measuring.ts'
import './lens.css'

/** Prompts that the lens always measures. */
export const LENS_TEXTS = 4

const selectView = (view: LensView) => view
const set = lensStore.setState
const selectRecord = ({ record }: LabState) => record
const selectTask = (state: LabState) => shownExperiment(state).task.id

const EXPLAINED = {
  raw: 'Raw state: the layer’s state is read as it is, softmax(H·Eᵀ), the policy that bottom-up policy optimization trains (arXiv 2512.19673, eq. 5). How sure it looks also depends on how long the state is. The last layer is the final policy itself, through the final norm.',
  normed:
    'Normed state: the state goes through the final norm first, as the final policy’s does, so its length does not matter. Layer 0 is grey: the norm amplifies the tiny state of the embedding.',
} as const

function Meaning({ kind, against }: { kind: LensView['kind']; against: Against | undefined }) {
  const { max_entropy } = useVocabulary()
  const legend = against
    ? {
        swatches: swatches('div'),
        texts: [points(-against.largest), '0', `${points(against.largest)} points`],
      }
    : { swatches: swatches('seq'), texts: ['0', `ln V = ${formatNumber(max_entropy)} nats`] }
  return (
    <div className="lens-meaning">
      <Legend legend={legend} testid="lens-legend" />
      <p className="soft">
        {against
          ? 'Colour and number: how much likelier the token that follows has become, in percentage points; the sign is the likeliest token. '
          : 'The likeliest token and its probability in per cent; the colour is the entropy, bright is certain. '}
        Underlined where the likeliest token is the one that follows. {SIGNS_SAY}.
      </p>
      <p className="soft">
        <Words text={EXPLAINED[kind]} />
      </p>
    </div>
  )
}

/** Why a text has no grid. */
function Waiting({ kept }: { kept: KeptOfRun }) {
  const atStep = useAtStep()
  const next = useNextObserved()
  const looking = useStore(lookStore, selectLooking)
  const refused = kept.observations.at(atStep)?.item.refused
  if (looking !== undefined) return <p data-testid="lens-waiting">{looking}</p>
  return (
    <p data-testid="lens-waiting">
      {atStep !== undefined
        ? `No kept step up to ${atStep} has measured this text.`
        : next !== undefined
          ? `Not measured yet. ${next}`
          : 'No step has measured this text. The next observed step of a run does, while this panel is in view.'}
      {refused === undefined ? '' : ` The last one said: ${refused}`} <LookAtLast />
    </p>
  )
}

/** Which step the grid is of. */
function Summary(props: {
  readonly step: number
  /** Milliseconds that measuring took, where that is known. */
  readonly cost: number | undefined
  readonly text: LensText
  /** The first step that measured the text. */
  readonly firstStep: number
}) {
  const { step, cost, text, firstStep } = props
  const atStep = useAtStep()
  return (
    <p data-testid="lens-summary" data-step={step}>
      <b
        data-testid="lens-cost"
        data-value={cost}
        title={cost === undefined ? undefined : `Measuring took ${formatNumber(cost)} ms`}
      >
        Step {step}
      </b>
      {atStep !== undefined && atStep !== step ? `, the last kept up to step ${atStep}` : ''}.
      {text.since === undefined
        ? ''
        : text.isOfOther
          ? ` Written in another run; measured from step ${firstStep} on.`
          : ` Written in step ${text.since}; measured from step ${firstStep} on.`}
    </p>
  )
}

/** One text at the shown step, and at another one where that is asked for. */
function Looked({ kept, text }: { kept: KeptOfRun; text: LensText }) {
  const atStep = useAtStep()
  const { max_entropy } = useVocabulary()
  const { kind, compare, layer, position, t, other } = useLens(selectView)
  const [hovered, setHovered] = useState<CellPlace>()
  const now = lensItem(kept, text.key, atStep)
  const steps = lensSteps(kept, text.key)
  const otherStep = steps.includes(other ?? Number.NaN) ? other : steps[0]
  const before = compare === 'alone' ? undefined : lensItem(kept, text.key, otherStep)
  const [lens, lensBefore] = [now?.lens, before?.lens]
  const against = useMemo(
    (): Against | undefined =>
      compare === 'difference' && lens && lensBefore
        ? { lens: lensBefore, largest: largestChange(lens, lensBefore, kind) }
        : undefined,
    [compare, lens, lensBefore, kind],
  )
  if (!now || !lens) return <Waiting kept={kept} />
  const here = placeIn(lens, { layer, position: position ?? lens.prompt_length - 1 + t })
  const shown = hovered ? placeIn(lens, hovered) : here
  const { step } = now.item
  const cost = now.item.item.cost_ms.lens
  const grid = (of: Lens, at: number, testid: string) => (
    <LensGrid
      lens={of}
      kind={kind}
      against={testid === 'lens-grid' ? against : undefined}
      isNamed={before === undefined}
      caption={against ? `Step ${at} less step ${otherStep}` : `Step ${at}`}
      {...{ here, max_entropy }}
      testid={testid}
      onPlace={(place) => set(place)}
      onHover={(place) =>
        setHovered((before) =>
          before?.layer === place?.layer && before?.position === place?.position ? before : place,
        )
      }
    />
  )
  return (
    <>
      <Summary {...{ step, cost, text }} firstStep={steps[0]} />
      <div className="lens-looked">
        <div className={`lens-grids ${compare === 'beside' && before ? 'two' : ''}`}>
          {compare === 'beside' && before
            ? grid(before.lens, before.item.step, 'lens-grid-other')
            : null}
          {grid(lens, step, 'lens-grid')}
        </div>
        <CellDetail
          {...{ lens, kind, step, ...shown }}
          before={before?.lens}
          beforeStep={before?.item.step}
        />
      </div>
      <Meaning kind={kind} against={against} />
    </>
  )
}

/** A place that a text has: the last layer and the last position are the largest. */
const placeIn = (lens: Lens, { layer, position }: CellPlace): CellPlace => ({
  layer: Math.max(0, Math.min(layersOf(lens) - 1, layer)),
  position: Math.max(0, Math.min(lens.tokens.length - 1, position)),
})

/** In place of a text, while none was measured. `next`: what is measured next, where a run is
 * on. */
function Nothing(props: {
  readonly next: string | undefined
  readonly refused: string | undefined
}) {
  const { next, refused } = props
  return (
    <p className="soft" data-awaited={next !== undefined || undefined}>
      Shows what every layer would say next, at every position of a held-out problem or of a
      response sent from the token inspector.{' '}
      {next !== undefined
        ? `Not measured yet. ${next}`
        : 'It appears with the first step that is observed while this panel is in view, or when you look into a kept state of a run that is over.'}
      {refused === undefined ? '' : ` The last one said: ${refused}`}
    </p>
  )
}

export function LayerLens() {
  const section = useRef<HTMLDivElement>(null)
  const isVisible = useVisible(section)
  const { sent: allSent, chosen, isWanted, other, kind } = useLens(selectView)
  const task = useShown(selectTask)
  const record = useShown(selectRecord)
  const sent = useMemo(() => sentOf(allSent, task), [allSent, task])
  const kept = useKept()
  const atStep = useAtStep()
  const isLiving = useIsLiving()
  // Of a past run, for a look at one of its states.
  const isFree = useWhyBusy() === undefined
  useEffect(() => {
    const samples = sent.map(({ sample }) => sample)
    if (isVisible && (isLiving || isFree))
      return wantObserved('lens', { lens: { held_out: LENS_TEXTS, samples } })
  }, [isVisible, isLiving, isFree, sent])
  useEffect(() => {
    if (!isWanted) return
    set({ isWanted: false })
    const fold = section.current?.closest('details')
    if (fold) fold.open = true
    fold?.scrollIntoView({ block: 'start' })
    section.current?.querySelector<HTMLElement>('select')?.focus({ preventScroll: true })
  }, [isWanted])
  const texts = lensTexts(kept, sent, atStep, record)
  const text = texts.find(({ key }) => key === chosen) ?? texts[0]
  const steps = lensSteps(kept, text?.key)
  const next = useNextObserved()
  const seen = lensItem(kept, text?.key, atStep)
  const refused = kept.observations.at(atStep)?.item.refused
  useMeasuring(isVisible, seen !== undefined && text?.key === chosen)
  return (
    <Fold
      id="lens"
      title="Layer lens"
      about={
        seen
          ? lensSummary(seen.lens, kind)
          : 'What every layer would say next, at every position of a text.'
      }
      step={seen?.item.step}
      opens="everywhere"
    >
      <div ref={section} className="lens">
        <Shades />
        {text ? (
          <p className="soft" data-testid="lens-reads">
            {reads(READ[kind], text.since === undefined ? ONE_HELD_OUT : ONE_OF_BATCH)}
          </p>
        ) : null}
        {seen ? (
          <p className="figure-says" data-testid="lens-says">
            {lensSummary(seen.lens, kind)}
          </p>
        ) : null}
        {text ? (
          <>
            <Options
              texts={texts}
              chosen={text}
              steps={steps}
              other={steps.includes(other ?? Number.NaN) ? other : steps[0]}
            />
            <Looked kept={kept} text={text} />
          </>
        ) : (
          <Nothing next={isLiving ? next : undefined} refused={refused} />
        )}
      </div>
    </Fold>
  )
}

// Draws the responses of one step, token by token, coloured by what the step computed of each.
import { useEffect, useMemo, useRef } from 'react'
import { SIGNS_SAY } from '../../../host/protocol/token_text.ts'
import { wantObserved } from '../../../page/client/observing.ts'
import type { LabState } from '../../../page/state/store.ts'
import { Words } from '../../glossary/Words.tsx'
import { formatNumber } from '../../kit/format.ts'
import { TOOL_WROTE } from '../../kit/TurnText.tsx'
import { useMedia } from '../../kit/use_media.ts'
import { lazyPart } from '../../part/lazy_part.tsx'
import { BATCH, READ, reads } from '../../plot/reads.ts'
import { useIsLiving, useKept } from '../../shown/rested.ts'
import { shownExperiment, useLastLayer } from '../../shown/run.ts'
import { useAtStep, useShown } from '../../shown/shown.ts'
import { useVisible } from '../../shown/visible.ts'
import { useVocabulary } from '../../shown/vocabulary.ts'
import { clipReach, isInPart, legendOf, MODES, rangeOf } from '../base/colours.ts'
import { type Found, find, type Inspected, openBundles } from '../base/inspect.ts'
import { Legend, Shades } from '../base/Legend.tsx'
import { NARROW, type TokensView, useTokens } from '../base/view.ts'
import { List } from './List.tsx'
import { Missing } from './Missing.tsx'
import { Count, Options } from './Options.tsx'
import { CUT_OFF } from './Responses.tsx'
import { comparisonSays, groupSays, noneSays } from './says.ts'
import { layerEntropyOf, type Shown, useShownStep } from './shown_responses.ts'
import { TraceActions } from './TraceActions.tsx'
import { LookSays, Where } from './Where.tsx'
import './inspector.css'

/** Only stories need it, and its words with it. */
const WordEntropies = lazyPart(async () => (await import('./WordEntropies.tsx')).WordEntropies, {
  name: 'The entropies by kind of word',
  fallback: null,
})

const selectIsStory = (state: LabState) => shownExperiment(state).task.id === 'story'

/** Whether a tool wrote a part of it. */
const hasTool = ({ traced, turns }: Inspected): boolean =>
  (traced?.observed?.length ?? 0) > 0 || (turns?.some(({ role }) => role === 'tool') ?? false)

const selectView = (view: TokensView) => view

/** Which weights the entropies of the layers are of, and what they cost. */
function LayersSay({ shown: { step, layers } }: { shown: Shown }) {
  if (!layers || layers.refused !== undefined) return null
  const { cost_ms } = layers
  return (
    <span data-testid="layers-say">
      {' '}
      The weights are those after step {step}, which learned from these responses; the temperature
      is 1.
      {cost_ms === undefined
        ? ''
        : ` All layers at all of these tokens took ${formatNumber(cost_ms)} ms.`}
    </span>
  )
}

function Body({ shown }: { shown: Shown }) {
  const kept = useKept()
  const atStep = useAtStep()
  const last = useLastLayer()
  const view = useTokens(selectView)
  const { mode, readout, order, isInformativeOnly, query } = view
  const isNarrow = useMedia(NARROW)
  const layer = Math.min(view.layer, last)
  const { responses, groupSize } = shown
  const isStory = useShown(selectIsStory)
  const traced = useMemo(() => responses.flatMap((own) => own.traced ?? []), [responses])
  const { max_entropy } = useVocabulary()
  const found = useMemo(
    () => find(responses, { order, isInformativeOnly, query }, groupSize),
    [responses, groupSize, order, isInformativeOnly, query],
  )
  const looks = kept.observations.at(atStep)
  const colours = useMemo(() => {
    const layerEntropy =
      mode === 'layer_entropy'
        ? layerEntropyOf(kept, shown, { layer, readout }, looks?.step)
        : undefined
    const reach = { max_entropy, clip: clipReach(shown.phase?.actor) }
    return { mode, layerEntropy, range: rangeOf(mode, traced, reach, layerEntropy) }
  }, [traced, shown, mode, layer, readout, kept, looks, max_entropy])
  const { range } = colours
  const notes = <Notes shown={shown} isColoured={range !== undefined} />
  const open = openBundles(found, view)
  const says = groupSays(
    open.find(({ responses }) => responses.some(({ place }) => place === view.cursor.place)) ??
      open[0],
  )
  return (
    <>
      {found.responses.length === 0 ? null : (
        <p className="figure-says" data-testid="inspector-says">
          {/* Its place stays where no group is open: what is clicked would move. */}
          {says || '\u00a0'}
        </p>
      )}
      <Filters isNarrow={isNarrow} found={found} />
      <div className="inspector-legend">
        {isNarrow ? null : <Count found={found} total={responses.length} />}
        {range ? <Legend legend={legendOf(mode, range)} testid="colour-legend" /> : null}
        {shown.isTraced && (!range || isInPart(traced, colours.layerEntropy)) ? (
          <Missing mode={mode} shown={shown} />
        ) : null}
        <Signs responses={responses} />
        {isNarrow ? null : notes}
      </div>
      {isStory && traced.length > 0 ? <WordEntropies step={shown.step} samples={traced} /> : null}
      {found.responses.length === 0 ? (
        <p data-testid="inspector-none">{noneSays(query, isInformativeOnly)}</p>
      ) : (
        <List step={shown.step} found={found} colours={colours} />
      )}
      {isNarrow ? (
        <div className="inspector-legend">
          <Count found={found} total={responses.length} />
          {notes}
        </div>
      ) : null}
    </>
  )
}

/** What stands in a response or beside it and is no colour. */
function Signs({ responses }: Pick<Shown, 'responses'>) {
  return (
    <>
      {responses.some(hasTool) ? (
        <p className="soft" data-testid="tool-legend">
          <span className="tool-text response">46&gt;</span> {TOOL_WROTE}
        </p>
      ) : null}
      {responses.some(({ is_ended }) => !is_ended) ? (
        <p className="soft" data-testid="cut-legend">
          <span className="badge warn">cut off</span> {CUT_OFF}
        </p>
      ) : null}
    </>
  )
}

/** On a phone they would stand where the tokens should. */
function Filters({ isNarrow, found }: { isNarrow: boolean; found: Found }) {
  if (!isNarrow) return <Options found={found} />
  return (
    <details className="inspector-filters">
      <summary>Colour, order and filters</summary>
      <Options found={found} />
    </details>
  )
}

/** What the colours mean, what a response is compared with, and which part of a step this is. */
function Notes({ shown, isColoured }: { shown: Shown; isColoured: boolean }) {
  const { mode, layer, readout } = useTokens(selectView)
  const how = layer >= useLastLayer() ? 'final' : readout
  const { phase, responses } = shown
  const isOfLayer = isColoured && mode === 'layer_entropy'
  const sampled = phase ? phase.rollout.train_batch_size * phase.rollout.n : 0
  return (
    <>
      {responses.length < sampled ? (
        <p className="soft" data-testid="recorded-part">
          {responses.length} of the step’s {sampled} responses were recorded.
        </p>
      ) : null}
      {isOfLayer ? <p className="soft">{reads(READ[how], BATCH)}</p> : null}
      <p className="soft inspector-help">
        <Words text={isColoured ? `${MODES[mode].help} ${SIGNS_SAY}.` : `${SIGNS_SAY}.`} />
        {isOfLayer ? <LayersSay shown={shown} /> : null}
      </p>
      {phase ? (
        <p className="soft inspector-help" data-testid="compares-say">
          <Words text={comparisonSays(phase)} />
        </p>
      ) : null}
    </>
  )
}

export function Inspector() {
  const section = useRef<HTMLElement>(null)
  const isVisible = useVisible(section)
  const isLiving = useIsLiving()
  const atStep = useAtStep()
  const { isTracingAlong: tokens, mode } = useTokens(selectView)
  const token_layers = mode === 'layer_entropy'
  useEffect(() => {
    if (!isVisible || !isLiving) return
    return wantObserved('inspector', { tokens, token_layers })
  }, [isVisible, isLiving, tokens, token_layers])
  const { shown, newer, traced } = useShownStep()
  const isWhole = shown?.isTraced && newer === undefined && (!token_layers || shown.layers)
  const isNarrow = useMedia(NARROW)
  const actions = <TraceActions isAlong={tokens} isLiving={isLiving} hasButton={!isWhole} />
  return (
    <section
      ref={section}
      className="card inspector"
      aria-labelledby="inspector-title"
      data-testid="inspector"
    >
      <Shades />
      <div className="profiler-head">
        <h2 id="inspector-title">Token inspector</h2>
        {isNarrow ? null : actions}
      </div>
      {shown ? (
        <>
          <Where {...{ shown, newer, traced }} />
          <LookSays step={shown.step} />
          <Body shown={shown} />
        </>
      ) : (
        <p className="soft">
          {atStep === undefined
            ? 'Responses appear here once a phase of reinforcement samples some, by prompt, each token coloured by what the step computed of it. A traced step scores its batch once more and reads every number back; its results stay the same.'
            : `No responses were kept up to step ${atStep}: a warm start samples none.`}
        </p>
      )}
      {isNarrow ? actions : null}
    </section>
  )
}

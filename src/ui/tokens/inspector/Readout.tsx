// Draws everything that is known of one token, and where else its response can be shown.
import { ListOrdered, ScanSearch } from 'lucide-react'
import { hasOneAnswer } from '../../../document/experiment/asked.ts'
import type { TracedSample } from '../../../host/protocol/results.ts'
import { holdsPadding, shownText } from '../../../host/protocol/token_text.ts'
import { layerName } from '../../glossary/layer_names.ts'
import { formatNats, formatNumber } from '../../kit/format.ts'
import { PartScores } from '../../learning/scores/PartScores.tsx'
import { proseClass } from '../../part/prose.ts'
import { READ } from '../../plot/reads.ts'
import { selectTask } from '../../shown/measure/main_measure.ts'
import { useKept } from '../../shown/rested.ts'
import { shownExperiment, useLastLayer } from '../../shown/run.ts'
import { shownStore, useShown } from '../../shown/shown.ts'
import { TokenWriting } from '../../touch/TokenWriting.tsx'
import { type LayerEntropy, stageOf } from '../base/colours.ts'
import { cellText, exactText, headText, shownColumns } from '../base/columns.ts'
import type { Inspected } from '../base/inspect.ts'
import { Token } from '../base/Token.tsx'
import { readTrace, tokensStore, useShownTrace } from '../base/view.ts'
import { lookThrough } from '../lens/store.ts'

/** Scrolls to the seven stages with this response in them and its token of the cursor, at the stage
 * that computes what the tokens' colours say. */
function showStages(place: number, traced: TracedSample): void {
  const { cursor, mode } = tokensStore.getState()
  const { stage, column } = stageOf(mode, traced)
  tokensStore.setState({ choice: place, stage, cell: { t: cursor.t, column } })
  const stages = document.querySelector('[data-testid="stages"]')
  stages?.scrollIntoView({ block: 'start' })
  const button = stages?.querySelector<HTMLElement>(`[data-testid="stage-${stage + 1}"]`)
  button?.focus({ preventScroll: true })
}

function Numbers({ told, t }: { told: Inspected; t: number }) {
  const { traced, noise } = told
  if (!traced)
    return <p className="soft">No numbers for single tokens: this step was not traced.</p>
  const shown = shownColumns(traced).filter(({ name }) => cellText(traced, name, t, noise) !== '–')
  return (
    <dl className="token-numbers" data-testid="token-numbers">
      {shown.map((column) => (
        <div key={column.name} title={column.help} data-column={column.name}>
          <dt>{headText(column)}</dt>
          <dd title={exactText(traced, column.name, t)}>
            {cellText(traced, column.name, t, noise)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Actions({ step, told }: { step: number; told: Inspected }) {
  const { prompt, response, traced, is_ended, place } = told
  const kept = useKept()
  const trace = useShownTrace()
  const through = () => {
    // The look may leave this step; on the way back its token is still there.
    if (traced && trace) readTrace(kept, trace)
    const task = shownExperiment(shownStore.getState()).task.id
    lookThrough({ prompt, response, is_ended }, step, task, tokensStore.getState().cursor.t)
  }
  // Such a response cannot be written as text and read back.
  const isOdd = holdsPadding(traced?.tokens ?? response)
  return (
    <div className="readout-actions">
      <button
        type="button"
        data-testid="look-through"
        disabled={isOdd}
        title={isOdd ? 'The response holds a padding token, which is not text' : undefined}
        onClick={through}
      >
        <ScanSearch className="icon" aria-hidden="true" />
        Look through the layers
      </button>
      {traced ? (
        <button type="button" data-testid="show-stages" onClick={() => showStages(place, traced)}>
          <ListOrdered className="icon" aria-hidden="true" />
          Show in the seven stages
        </button>
      ) : null}
    </div>
  )
}

/** What every layer's policy is at one token, the chosen one in bold. */
function Layers(props: { layerEntropy: LayerEntropy; told: Inspected; t: number }) {
  const { layerEntropy, told, t } = props
  const { layer, readout } = layerEntropy
  const last = useLastLayer()
  const { traced } = told
  const entropy = traced && layerEntropy.at(traced, t)
  if (!traced || entropy === undefined) return null
  return (
    <>
      <p data-testid="token-layer">
        {layer === last ? (
          <>Entropy of the final policy: </>
        ) : (
          <>
            Entropy of layer {layer}, {READ[readout]}:{' '}
          </>
        )}
        <b>{formatNats(entropy)}</b>
        <span className="soft">, with the weights after step {layerEntropy.stepOf(traced)}</span>
      </p>
      <dl className="token-numbers token-layers" data-testid="token-layers">
        {Array.from({ length: last + 1 }, (_, l) => {
          const value = layerEntropy.at(traced, t, l)
          return value === undefined ? null : (
            <div key={l} className={l === layer ? 'chosen' : ''} data-layer={l}>
              <dt>{layerName(l, last)}</dt>
              <dd title={`${value}`}>{formatNumber(value)}</dd>
            </div>
          )
        })}
      </dl>
    </>
  )
}

/** `step`: that the response was sampled in. */
export function Readout(props: {
  step: number
  told: Inspected
  /** Which of its group it is: '2 of 4'. */
  number: string
  t: number
  /** Of the cursor: what is done is done with it, wherever the pointer passes. */
  chosen: Inspected
  layerEntropy: LayerEntropy | undefined
}) {
  const { step, told, number, t, chosen, layerEntropy } = props
  const { prompt, response, ground_truth, traced, is_ended, length, score } = told
  const token = traced?.tokens[t]
  const hasAnswer = hasOneAnswer(useShown(selectTask))
  return (
    <>
      <div className="beside">
        <div className="readout" role="group" aria-label="The selected token" data-testid="readout">
          <p>
            <span className={`response ${proseClass(prompt)} soft`}>{shownText(prompt)}</span>{' '}
            {traced ? (
              traced.tokens.map((text, i) => (
                <Token key={i} token={text} className={i === t ? 'readout-token' : 'soft'} />
              ))
            ) : (
              <span className={`response ${proseClass(response)}`}>
                {shownText(response) || <>(nothing)</>}
              </span>
            )}
          </p>
          <p className="soft">
            {token === undefined ? '' : `Token ${t + 1} of ${length}. `}Response {number}
            {hasAnswer ? (
              <>
                , answer{' '}
                <span className={`response ${proseClass(ground_truth)}`}>
                  {shownText(ground_truth)}
                </span>
              </>
            ) : null}
            , score of the whole response {formatNumber(score)}
            {is_ended ? '' : ', cut off'}. <PartScores told={told} />
          </p>
          <Numbers told={told} t={t} />
          {layerEntropy ? <Layers layerEntropy={layerEntropy} told={told} t={t} /> : null}
          <Actions step={step} told={chosen} />
        </div>
      </div>
      {/* Its tables are wider than the column beside the list. */}
      {traced && !holdsPadding(traced.tokens) ? (
        <TokenWriting sample={{ prompt, response, is_ended }} step={step} t={t} />
      ) : null}
    </>
  )
}

// One step of reinforcement, token by token, and in slow motion.
import { Search } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { formulaNumber, SYMBOLS } from '../../../lab/formulas/formula_text.ts'
import { type FilledFormula, tokenFormulas } from '../../../lab/formulas/formulas.ts'
import type { LabState } from '../../../lab/page/store.ts'
import type { TokenTable, TracedSample } from '../../../lab/protocol/results.ts'
import { formatNumber } from '../../base/format.ts'
import { selectIsBusy, selectStatus, seriesOf, useLab } from '../../base/run.ts'
import { useIsPast } from '../../base/shown.ts'
import { useMedia } from '../../base/use_media.ts'
import { scrubTo } from '../../learning/scrub.ts'
import { useKept } from '../inspector/rested.ts'
import {
  holdTrace,
  releaseTrace,
  type TokensView,
  tokensStore,
  traceNow,
  useShownTrace,
  useTokens,
} from '../inspector/view.ts'
import { SlowMotion, type StageIndex } from './SlowMotion.tsx'
import {
  type Choice,
  type Column,
  exactText,
  PART_STAGE,
  placeOf,
  shownColumns,
  type Told,
  tokenText,
} from './stages.ts'
import { type Place, TokenGrid, tense, within } from './TokenGrid.tsx'
import { missingColumns, whyMissing } from './why_missing.ts'

const selectIsTracing = (state: LabState) => state.is_tracing
const selectChoice = ({ choice }: TokensView) => choice
const selectIsFollowing = ({ is_following }: TokensView) => is_following

interface Trace {
  readonly step: number
  readonly table: TokenTable
}

/** Between two steps that are followed: long enough to see something. */
const FOLLOW_MS = 800

/** A metric of one step, which need not be the last. */
function metricAt(metric: string, step: number): number | undefined {
  const series = seriesOf(metric)
  for (let i = (series?.length ?? 0) - 1; series && i >= 0; i--)
    if (series.steps[i] === step) return series.values[i]
  return undefined
}

/** What this step has no numbers for, and why. */
function Missing(props: { table: TokenTable; sample: TracedSample; columns: readonly Column[] }) {
  const missing = missingColumns(props.table, props.sample, props.columns)
  if (missing.length === 0) return null
  return (
    <p className="soft" data-testid="stages-missing">
      Not in this step:{' '}
      {missing.map(({ labels, why }) => `${labels.join(', ')} (${why})`).join('; ')}.
    </p>
  )
}

function FormulaPart({ formula, stage }: { formula: FilledFormula; stage: StageIndex }) {
  const { part, name, lines, note } = formula
  return (
    <div className={`formula ${tense(PART_STAGE[part], stage)}`} data-part={part}>
      <h4>{name}</h4>
      {lines.length === 0 ? <p className="soft">Not a part of this step for this token.</p> : null}
      {lines.map(({ result, symbols, numbers, value }) => (
        <p key={result}>
          <span>
            <var>{SYMBOLS[result] ?? result}</var> = {symbols}
          </span>
          <span className="formula-numbers" title={`${value}`}>
            = {numbers}
            {numbers === formulaNumber(value) ? null : (
              <>
                {' = '}
                <b>{formulaNumber(value)}</b>
              </>
            )}
          </span>
        </p>
      ))}
      {note ? <p className="soft">{note}</p> : null}
    </div>
  )
}

const optionText = ({ prompt, response, score }: TracedSample) =>
  `${prompt} ${response === '' ? '(nothing)' : response}   ${formatNumber(score)}`

/** The steps that were traced and are kept, newest first; the whole page goes to the chosen one. */
function StepChoice({ step }: { step: number }) {
  const { traces } = useKept()
  const steps = traces.items.map((kept) => kept.step).reverse()
  const go = (to: number) => {
    releaseTrace()
    scrubTo(to === steps[0] ? undefined : to)
  }
  return (
    <select
      aria-label="Traced step"
      data-testid="trace-at"
      className="trace-at"
      value={step}
      onChange={({ target }) => go(Number(target.value))}
    >
      {steps.map((one) => (
        <option key={one} value={one}>
          Step {one}
        </option>
      ))}
    </select>
  )
}

function SampleChoice(props: {
  trace: Trace
  choice: Choice
  shown: number
  onChoice: (choice: Choice) => void
}) {
  const { trace, choice, shown, onChoice } = props
  return (
    <div className="sample-choice">
      {(['best', 'worst'] as const).map((which) => (
        <button
          key={which}
          type="button"
          aria-pressed={choice === which}
          data-testid={`trace-${which}`}
          onClick={() => onChoice(which)}
        >
          {which === 'best' ? 'Best' : 'Worst'}
        </button>
      ))}
      <StepChoice step={trace.step} />
      <select
        aria-label="Response"
        data-testid="trace-sample"
        value={shown}
        onChange={({ target }) => onChoice(Number(target.value))}
      >
        {trace.table.samples.map((sample, i) => (
          // Responses have no other identity than their place.
          <option key={i} value={i}>
            {optionText(sample)}
          </option>
        ))}
      </select>
    </div>
  )
}

function Walk({ trace }: { trace: Trace }) {
  const { step, table } = trace
  const choice = useTokens(selectChoice)
  const [stage, setStage] = useState<StageIndex>(undefined)
  const [at, setAt] = useState<Place>({ t: 0, column: 0 })
  const is_turned = useMedia('(max-width: 899px)')
  const shown = placeOf(table.samples, choice)
  const sample = table.samples[shown]
  const columns = useMemo(() => shownColumns(sample), [sample])
  const place = {
    t: within(at.t, sample.tokens.length),
    column: within(at.column, columns.length),
  }
  const told: Told = {
    table,
    sample,
    update: {
      grad_norm: metricAt('actor/grad_norm', step),
      lr: metricAt('actor/lr', step),
    },
  }
  const column = columns[place.column]
  return (
    <>
      <div className="stages-head">
        <p data-testid="trace-summary">
          Step {step}, {table.phase.name}: <span className="response">{sample.prompt}</span>{' '}
          <b className="response">{sample.response || '(nothing)'}</b>
          <span className="soft">
            {' '}
            answer {sample.ground_truth}, score {formatNumber(sample.score)}
          </span>
        </p>
        <SampleChoice
          trace={trace}
          choice={choice}
          shown={shown}
          onChoice={(to) => tokensStore.setState({ choice: to })}
        />
      </div>
      <SlowMotion told={told} stage={stage} onStage={setStage} />
      <div className="stages-body">
        <div>
          <div className="scroll">
            <TokenGrid
              table={table}
              sample={sample}
              columns={columns}
              place={place}
              stage={stage}
              is_turned={is_turned}
              onPlace={setAt}
            />
          </div>
          <p className="stages-exact" data-testid="token-exact">
            <b>{column.label}</b> of token {place.t + 1}{' '}
            <span className="response">{tokenText(sample.tokens[place.t])}</span>:{' '}
            <b>
              {exactText(sample, column.name, place.t) ??
                `none: ${whyMissing(table, sample, column.name, place.t)}`}
            </b>
            <span className="soft"> {column.help}</span>
          </p>
          <Missing table={table} sample={sample} columns={columns} />
        </div>
        <div
          className="formulas"
          data-testid="formulas"
          aria-label="Formulas of this token"
          role="group"
        >
          <h3>
            Token {place.t + 1}{' '}
            <span className="response">{tokenText(sample.tokens[place.t])}</span>
          </h3>
          {tokenFormulas({ table, sample, t: place.t }).map((formula) => (
            <FormulaPart key={formula.part} formula={formula} stage={stage} />
          ))}
        </div>
      </div>
    </>
  )
}

/** Asks for the next step again and again while the run goes on. */
function useFollowing(is_following: boolean): void {
  const is_running = useLab(selectStatus) === 'running'
  const is_tracing = useLab(selectIsTracing)
  useEffect(() => {
    if (!is_following || !is_running || is_tracing) return
    const timer = setTimeout(traceNow, FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [is_following, is_running, is_tracing])
}

export function Stages() {
  const item = useShownTrace()
  const trace = useMemo(() => item && { step: item.step, table: item.item }, [item])
  const is_past = useIsPast()
  const is_tracing = useLab(selectIsTracing)
  const is_busy = useLab(selectIsBusy)
  const is_following = useTokens(selectIsFollowing)
  useFollowing(is_following && !is_past)
  return (
    <section className="card stages" aria-labelledby="stages-title" data-testid="stages">
      <div className="profiler-head">
        <h2 id="stages-title">One step, token by token</h2>
        <div className="profiler-actions" hidden={is_past}>
          <label className="stages-follow">
            <input
              type="checkbox"
              data-testid="trace-follow"
              checked={is_following}
              onChange={({ target }) => {
                releaseTrace()
                tokensStore.setState({ is_following: target.checked })
              }}
            />
            Follow
          </label>
          <button
            type="button"
            data-testid="trace-step"
            disabled={!is_busy || is_tracing}
            title={is_busy ? undefined : 'Train first: a step of a run is looked at'}
            onClick={traceNow}
          >
            <Search className="icon" aria-hidden="true" />
            {is_tracing ? 'Waiting for a step' : 'Look at the next step'}
          </button>
        </div>
      </div>
      {trace ? (
        // A step that is read stays, whatever the run traces next.
        <div className="stages-walk" onPointerDown={holdTrace} onFocus={holdTrace}>
          <Walk trace={trace} />
        </div>
      ) : (
        <p className="soft">
          {is_past
            ? 'No step of this run was looked at token by token.'
            : is_tracing
              ? 'The next step of reinforcement appears here. A warm start samples nothing, so it has nothing to show.'
              : 'Shows what one step of reinforcement computes for every token: log-probs, rewards, advantages, ratios, and the formulas with their numbers. The step costs one more pass; its results stay the same.'}
        </p>
      )}
    </section>
  )
}

// One step of reinforcement, token by token, and in slow motion.
import { ChevronLeft, ChevronRight, Pause, Play, Search } from 'lucide-react'
import {
  type KeyboardEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { formulaNumber, SYMBOLS } from '../../lab/formula_text.ts'
import { type FilledFormula, tokenFormulas } from '../../lab/formulas.ts'
import type { TokenTable, TracedSample } from '../../lab/protocol.ts'
import type { LabState } from '../../lab/store.ts'
import { formatNumber } from '../format.ts'
import {
  holdTrace,
  releaseTrace,
  type TokensView,
  tokensStore,
  traceNow,
  useShownTrace,
  useTokens,
} from '../inspector/view.ts'
import { selectIsBusy, selectStatus, seriesOf, useLab } from '../run.ts'
import { useIsPast } from '../shown.ts'
import {
  type Choice,
  type Column,
  cellText,
  exactText,
  PART_STAGE,
  placeOf,
  STAGES,
  shownColumns,
  type Told,
  tokenText,
} from './stages.ts'

const selectIsTracing = (state: LabState) => state.is_tracing
const selectChoice = ({ choice }: TokensView) => choice
const selectIsFollowing = ({ is_following }: TokensView) => is_following

interface Trace {
  readonly step: number
  readonly table: TokenTable
}
/** undefined: the whole step at once. */
type StageIndex = number | undefined

/** Milliseconds that slow motion stays at a stage. */
const STAGE_MS = 4000
/** Between two steps that are followed: long enough to see something. */
const FOLLOW_MS = 800

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query)
      media.addEventListener('change', changed)
      return () => media.removeEventListener('change', changed)
    },
    () => matchMedia(query).matches,
  )
}

/** A metric of one step, which need not be the last. */
function metricAt(metric: string, step: number): number | undefined {
  const series = seriesOf(metric)
  for (let i = (series?.length ?? 0) - 1; series && i >= 0; i--)
    if (series.steps[i] === step) return series.values[i]
  return undefined
}

/** How a stage is seen from another one. */
function tense(stage: number, now: StageIndex): 'now' | 'later' | '' {
  if (now === undefined || stage < now) return ''
  return stage === now ? 'now' : 'later'
}

interface Place {
  readonly t: number
  readonly column: number
}

const MOVES: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
}

const within = (value: number, length: number) => Math.max(0, Math.min(length - 1, value))

/** Tokens as rows; where there is little width, as columns. Arrow keys go from cell to cell. */
function Grid(props: {
  sample: TracedSample
  columns: readonly Column[]
  place: Place
  stage: StageIndex
  is_turned: boolean
  onPlace: (place: Place) => void
}) {
  const { sample, columns, place, stage, is_turned, onPlace } = props
  const table = useRef<HTMLTableElement>(null)
  const { tokens } = sample
  const move = (event: KeyboardEvent) => {
    const step = MOVES[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const [t, column] = is_turned ? [step[1], step[0]] : step
    const next = {
      t: within(place.t + t, tokens.length),
      column: within(place.column + column, columns.length),
    }
    onPlace(next)
    table.current?.querySelector<HTMLElement>(`[data-cell="${next.t}/${next.column}"]`)?.focus()
  }
  const cell = (t: number, c: number) => {
    const { name, stage: own } = columns[c]
    const is_here = t === place.t && c === place.column
    return (
      <td
        key={`${t}/${name}`}
        data-cell={`${t}/${c}`}
        data-column={name}
        className={`${tense(own, stage)} ${t === place.t ? 'chosen' : ''}`}
        tabIndex={is_here ? 0 : -1}
        title={exactText(sample, name, t)}
        onFocus={() => onPlace({ t, column: c })}
        onClick={() => onPlace({ t, column: c })}
      >
        {cellText(sample, name, t)}
      </td>
    )
  }
  const columnHead = (c: number, scope: 'row' | 'col') => (
    <th
      key={columns[c].name}
      scope={scope}
      className={tense(columns[c].stage, stage)}
      title={columns[c].help}
    >
      {columns[c].label}
    </th>
  )
  const tokenHead = (t: number, scope: 'row' | 'col') => (
    <th
      key={t}
      scope={scope}
      className={`token ${tense(0, stage)} ${t === place.t ? 'chosen' : ''}`}
    >
      <span className="response">{tokenText(tokens[t])}</span>
    </th>
  )
  const ts = tokens.map((_, t) => t)
  const cs = columns.map((_, c) => c)
  return (
    // A grid: its cells are reached by arrow keys.
    <table
      ref={table}
      role="grid"
      className="stages-table"
      onKeyDown={move}
      data-testid="token-table"
    >
      <thead>
        <tr>
          <th scope="col">{is_turned ? '' : 'token'}</th>
          {is_turned ? ts.map((t) => tokenHead(t, 'col')) : cs.map((c) => columnHead(c, 'col'))}
        </tr>
      </thead>
      <tbody>
        {is_turned
          ? cs.map((c) => (
              <tr key={columns[c].name}>
                {columnHead(c, 'row')}
                {ts.map((t) => cell(t, c))}
              </tr>
            ))
          : ts.map((t) => (
              <tr key={t}>
                {tokenHead(t, 'row')}
                {cs.map((c) => cell(t, c))}
              </tr>
            ))}
      </tbody>
    </table>
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

/** Seven stages to walk through, by itself or by hand. */
function SlowMotion(props: {
  told: Told
  stage: StageIndex
  onStage: (stage: StageIndex) => void
}) {
  const { told, stage, onStage } = props
  const [is_playing, setPlaying] = useState(false)
  const is_still = useMedia('(prefers-reduced-motion: reduce)')
  const last = STAGES.length - 1
  useEffect(() => {
    if (!is_playing) return
    const timer = setTimeout(() => {
      if (stage === last) setPlaying(false)
      else onStage((stage ?? -1) + 1)
    }, STAGE_MS)
    return () => clearTimeout(timer)
  }, [is_playing, stage, onStage, last])
  const go = (to: StageIndex) => {
    setPlaying(false)
    onStage(to)
  }
  // At an end a button stays focusable, or the keys would go nowhere.
  const next = () => go(Math.min(last, (stage ?? -1) + 1))
  const back = () => go(stage === undefined || stage === 0 ? undefined : stage - 1)
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    event.preventDefault()
    if (event.key === 'ArrowRight') next()
    else back()
  }
  const play = () => {
    setPlaying(!is_playing)
    if (!is_playing && (stage === undefined || stage === last)) onStage(0)
  }
  return (
    <div className="slow-motion" role="group" aria-label="Slow motion" onKeyDown={onKey}>
      <div className="slow-motion-bar">
        <button
          type="button"
          data-testid="stage-back"
          aria-label="Back"
          aria-disabled={stage === undefined}
          onClick={back}
        >
          <ChevronLeft className="icon" aria-hidden="true" />
        </button>
        {/* Nothing moves by itself for those who asked for that. */}
        {is_still ? null : (
          <button type="button" data-testid="stage-play" onClick={play}>
            {is_playing ? (
              <Pause className="icon" aria-hidden="true" />
            ) : (
              <Play className="icon" aria-hidden="true" />
            )}
            {is_playing ? 'Stop' : 'Slow motion'}
          </button>
        )}
        <button
          type="button"
          data-testid="stage-next"
          aria-label="Next stage"
          aria-disabled={stage === last}
          onClick={next}
        >
          <ChevronRight className="icon" aria-hidden="true" />
        </button>
        <ol>
          {STAGES.map(({ title }, i) => (
            <li key={title}>
              <button
                type="button"
                className={`plain ${stage === i ? 'current' : ''}`}
                aria-current={stage === i ? 'step' : undefined}
                aria-label={`${i + 1}: ${title}`}
                title={title}
                data-testid={`stage-${i + 1}`}
                onClick={() => go(stage === i ? undefined : i)}
              >
                {i + 1}
              </button>
            </li>
          ))}
        </ol>
      </div>
      <p role="status" data-testid="stage-says">
        {stage === undefined ? (
          <span className="soft">
            Walk through this step in seven stages, or read the whole table.
          </span>
        ) : (
          <>
            <b>
              {stage + 1}. {STAGES[stage].title}.
            </b>{' '}
            {STAGES[stage].says(told)}
          </>
        )}
      </p>
    </div>
  )
}

const optionText = ({ prompt, response, score }: TracedSample) =>
  `${prompt} ${response === '' ? '(nothing)' : response}   ${formatNumber(score)}`

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
            <Grid
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
            <b>{exactText(sample, column.name, place.t)}</b>
            <span className="soft"> {column.help}</span>
          </p>
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

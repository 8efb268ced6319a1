// Draws one traced step: a response, the table of its tokens, and the formulas of the token that
// was pointed at.

import { useCallback, useMemo } from 'react'
import { hasOneAnswer } from '../../../document/experiment/asked.ts'
import { noiseOf } from '../../../document/formulas/advantage_noise.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { shownText } from '../../../host/protocol/token_text.ts'
import { Words } from '../../glossary/Words.tsx'
import { formatNumber } from '../../kit/format.ts'
import { useMedia } from '../../kit/use_media.ts'
import { proseClass } from '../../part/prose.ts'
import { selectTask } from '../../shown/measure/main_measure.ts'
import { seriesOf } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import {
  type Column,
  columnOf,
  exactText,
  isFilled,
  saidText,
  shownColumns,
} from '../base/columns.ts'
import { useStepName } from '../base/looked_end.ts'
import { placeOf } from '../base/sample_choice.ts'
import { Token } from '../base/Token.tsx'
import { type CellPlace, type TokensView, tokensStore, useTokens } from '../base/view.ts'
import { Formulas } from './Formulas.tsx'
import { SampleChoice, type Trace } from './SampleChoice.tsx'
import { SlowMotion, type StageIndex } from './SlowMotion.tsx'
import { Symbols } from './Symbols.tsx'
import type { Told } from './stages.ts'
import { TokenGrid, tense, within } from './TokenGrid.tsx'
import { missingColumns, whyMissing } from './why_missing.ts'

const selectChoice = ({ choice }: TokensView) => choice
const selectCell = ({ cell }: TokensView) => cell
const selectStage = ({ stage }: TokensView): StageIndex => stage
const onPlace = (cell: CellPlace) => tokensStore.setState({ cell })

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

function Summary({ trace, sample }: { trace: Trace; sample: TracedSample }) {
  const hasAnswer = hasOneAnswer(useShown(selectTask))
  const name = useStepName(trace.step)
  return (
    <p data-testid="trace-summary">
      {name}, {trace.table.phase.name}:{' '}
      <span className={`response ${proseClass(sample.prompt)}`}>{shownText(sample.prompt)}</span>{' '}
      <b className={`response ${proseClass(sample.response)}`}>
        {shownText(sample.response) || <>(nothing)</>}
      </b>
      <span className="soft">
        {' '}
        {hasAnswer ? `answer ${shownText(sample.ground_truth)}, ` : ''}score{' '}
        {formatNumber(sample.score)}
      </span>
    </p>
  )
}

interface ExactProps {
  readonly table: TokenTable
  readonly sample: TracedSample
  readonly column: Column
  readonly t: number
  readonly stage: StageIndex
}

/** One number and what it is, or why the step has none; not before the stage that computes it. */
export function Exact({ table, sample, column, t, stage }: ExactProps) {
  if (tense(column.stage, stage) === 'later')
    return (
      <p className="stages-exact" data-testid="token-exact">
        Token {t + 1}: <Token token={sample.tokens[t]} className="token-named" />
      </p>
    )
  return (
    <p className="stages-exact" data-testid="token-exact">
      Token {t + 1}: <Token token={sample.tokens[t]} className="token-named" />,{' '}
      <b>{column.label}</b>:{' '}
      <b title={exactText(sample, column.name, t)}>
        {saidText(sample, column.name, t, noiseOf(table.samples)) ??
          `none: ${whyMissing(table, sample, column.name, t)}`}
      </b>
      <span className="soft">
        {' '}
        {column.help.includes('π_') ? <Symbols text={column.help} /> : <Words text={column.help} />}
      </span>
    </p>
  )
}

export function Walk({ trace }: { trace: Trace }) {
  const { step, table } = trace
  const choice = useTokens(selectChoice)
  const stage = useTokens(selectStage)
  const at = useTokens(selectCell)
  const isTurned = useMedia('(max-width: 899px)')
  const shown = placeOf(table.samples, choice)
  const sample = table.samples[shown]
  const all = useMemo(() => shownColumns(sample), [sample])
  const columns = useMemo(() => all.filter((column) => isFilled(sample, column)), [all, sample])
  const place = {
    t: within(at.t, sample.tokens.length),
    column: within(at.column, columns.length),
  }
  // The sentence below the table is of a number that the stage computes.
  const toStage = useCallback(
    (to: StageIndex) => {
      const column = columnOf(columns, to)
      tokensStore.setState(({ cell }) => ({
        stage: to,
        cell: column === undefined ? cell : { ...cell, column },
      }))
    },
    [columns],
  )
  const told: Told = {
    table,
    sample,
    update: {
      grad_norm: metricAt('actor/grad_norm', step),
      lr: metricAt('actor/lr', step),
    },
  }
  return (
    <>
      <div className="stages-head">
        <Summary trace={trace} sample={sample} />
        <SampleChoice
          trace={trace}
          choice={choice}
          shown={shown}
          onChoice={(to) => tokensStore.setState({ choice: to })}
        />
      </div>
      <SlowMotion told={told} stage={stage} onStage={toStage} />
      <div className="stages-body">
        <div>
          <div className="scroll">
            <TokenGrid
              table={table}
              sample={sample}
              columns={columns}
              place={place}
              stage={stage}
              isTurned={isTurned}
              onPlace={onPlace}
            />
          </div>
          <Exact {...{ table, sample, stage }} column={columns[place.column]} t={place.t} />
          <Missing table={table} sample={sample} columns={all} />
        </div>
        <Formulas table={table} sample={sample} t={place.t} stage={stage} />
      </div>
    </>
  )
}

// Draws the forest plot: the difference of every arm from the baseline with its interval, and the
// seeds' own differences. Each row is read out at the pointer, and by the arrow keys.
import { useState } from 'react'
import type { Analysis, Comparison } from '../../../document/study/analysis.ts'
import {
  besideRow,
  type ForestRow,
  forestRows,
  forestTitle,
  forestValues,
} from '../../../document/study/report/forest.ts'
import { short } from '../../../document/study/report/svg.ts'
import { inHead, type Units } from '../../../document/study/report/units.ts'
import { differenceText, equalWithin } from '../../../document/study/report/words.ts'
import { FEWEST_PAIRS } from '../../../document/study/statistics/student.ts'
import { pointing } from '../../kit/input/pointing.ts'
import { t } from '../../kit/translator.ts'
import { useSize } from '../../plot/base/plot_hooks.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { Owner } from '../../plot/files/SaveAs.tsx'
import { cutName, lettersOf } from '../../plot/lines/name_room.ts'
import { Readout } from '../../plot/Readout.tsx'
import { fittedScale, type Scale } from '../../plot/still/axes.ts'
import { StillFigure } from '../../plot/still/StillFigure.tsx'

const VERDICTS: Readonly<Record<Comparison['verdict'], string>> = {
  better: 'better',
  worse: 'worse',
  equal: 'equal within the margin',
  none: 'no difference found',
  'too few': 'too few seeds to say',
}

/** Names lie left of the plot, where the longest has room for as much of the width, or above their
 * rows where that leaves the plot too little. */
const MOST_NAMES = 0.42
const LETTER_WIDTH = 7.4
const NAME_GAP = 14
const SAID = 160
const LEAST_WIDTH = 680
const ROW = 28
const TALL_ROW = 44
const FOOT = 22
const MARGIN = 14

interface Drawn {
  readonly rows: readonly ForestRow[]
  readonly units: Units
  readonly scale: Scale
  /** The row that is read out. */
  readonly at: number | undefined
  readonly onMove: (row: number | undefined) => void
}

function Row({ row, px, y }: { readonly row: ForestRow; readonly px: Px; readonly y: number }) {
  const { pairs, t, bootstrap, mean, verdict } = row.comparison
  return (
    <g className={`forest-row ${verdict === 'too few' || verdict === 'equal' ? 'none' : verdict}`}>
      {bootstrap ? (
        <line
          x1={px(bootstrap.low)}
          x2={px(bootstrap.high)}
          y1={y + 6}
          y2={y + 6}
          strokeOpacity={0.6}
        />
      ) : null}
      {t ? <line x1={px(t.low)} x2={px(t.high)} y1={y} y2={y} strokeWidth={3} /> : null}
      {pairs.map(({ seed, difference }) => (
        <circle key={seed} cx={px(difference)} cy={y + 11} r={2.5} fillOpacity={0.55} />
      ))}
      <rect x={px(mean) - 4} y={y - 4} width={8} height={8} />
    </g>
  )
}

type Px = (value: number) => number

function Forest({ rows, units, scale, at, onMove, width }: Drawn & { readonly width: number }) {
  const isWide = width >= LEAST_WIDTH
  const longest = NAME_GAP + LETTER_WIDTH * Math.max(...rows.map(({ name }) => lettersOf(t(name))))
  const names = Math.min(longest, MOST_NAMES * width)
  const [left, right, high] = isWide ? [names, SAID, ROW] : [0, 0, TALL_ROW]
  const room = isWide ? names - NAME_GAP : width - SAID - MARGIN
  const letters = Math.floor(room / LETTER_WIDTH + 1e-6)
  const inner = Math.max(1, width - left - right - 2 * MARGIN)
  const px: Px = (value) => left + MARGIN + scale.place(value) * inner
  const bottom = rows.length * high
  return (
    <svg className="forest-plot" role="img" width={width} height={bottom + FOOT} aria-hidden="true">
      {at === undefined ? null : (
        <rect className="forest-at" y={at * high} width={width} height={high} />
      )}
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? 'zero-line' : 'grid-line'}
            x1={px(tick)}
            x2={px(tick)}
            y2={bottom}
          />
          <text x={px(tick)} y={bottom + 15} textAnchor="middle">
            {units.tick(tick)}
          </text>
        </g>
      ))}
      {rows.map((row, i) => (
        <g
          key={row.name}
          {...pointing(
            () => onMove(i),
            () => onMove(undefined),
          )}
        >
          <rect y={i * high} width={width} height={high} fill="transparent" />
          <text
            className="forest-name"
            x={isWide ? names - 6 : MARGIN}
            y={isWide ? i * high + high / 2 + 4 : i * high + 14}
            textAnchor={isWide ? 'end' : 'start'}
          >
            <title>{row.name}</title>
            {cutName(t(row.name), letters)}
          </text>
          <text x={width} y={isWide ? i * high + high / 2 + 4 : i * high + 14} textAnchor="end">
            {besideRow(row.comparison, units)}
          </text>
          <Row row={row} px={px} y={isWide ? i * high + high / 2 - 2 : i * high + 29} />
        </g>
      ))}
    </svg>
  )
}

function rowText({ name, comparison }: ForestRow, units: Units): string {
  const { pairs, verdict, p_holm, equality } = comparison
  const difference = differenceText(comparison, units)
  if (verdict === 'equal' && equality)
    return `${name}: ${difference}, ${pairs.length} seeds; ${equalWithin(equality, units)}, p ${short(equality.p)} of two one-sided t tests`
  return p_holm === undefined
    ? `${name}: ${difference}, ${pairs.length} seeds; ${VERDICTS[verdict]}`
    : `${name}: ${difference}, ${pairs.length} seeds, p ${short(p_holm)} after Holm; ${VERDICTS[verdict]}`
}

function forestTable(rows: readonly ForestRow[], units: Units): NumberTable {
  const inUnit = (name: string) => `${name}${inHead(units.difference)}`
  return {
    columns: [
      'arm',
      inUnit('difference'),
      inUnit('interval low'),
      inUnit('interval high'),
      inUnit('bootstrap low'),
      inUnit('bootstrap high'),
      'seeds',
      'p (Holm)',
      'found',
    ],
    rows: rows.map(({ name, comparison: { mean, t, bootstrap, pairs, p_holm, verdict } }) => [
      name,
      ...[mean, t?.low, t?.high, bootstrap?.low, bootstrap?.high].map((value) =>
        units.bareDifference(value ?? Number.NaN),
      ),
      `${pairs.length}`,
      short(p_holm ?? Number.NaN),
      VERDICTS[verdict],
    ]),
  }
}

function SizedForest(props: Drawn) {
  const { ref, size } = useSize()
  return (
    <div ref={ref} className="svg-chart-place">
      {size.width > 0 ? <Forest {...props} width={size.width} /> : null}
    </div>
  )
}

interface ForestFigureProps {
  readonly analysis: Analysis
  readonly units: Units
  readonly owner: Owner
}

/** Nothing where no arm has a seed in common with the baseline. */
export function ForestFigure({ analysis, units, owner }: ForestFigureProps) {
  const [at, move] = useState<number>()
  const rows = forestRows(analysis)
  if (rows.length === 0) return null
  const scale = fittedScale([0, ...forestValues(rows)])
  const hasFew = rows.some(({ comparison }) => comparison.pairs.length < FEWEST_PAIRS)
  const points = units.difference === ' points' ? 'In points: from 60 % to 61 % is one. ' : ''
  const few = hasFew
    ? ` An arm with fewer than ${FEWEST_PAIRS} seeds so far has their dots and no interval.`
    : ''
  const text =
    at === undefined ? rows.map((row) => rowText(row, units)).join('. ') : rowText(rows[at], units)
  return (
    <StillFigure
      id="study-forest"
      title={forestTitle(analysis)}
      note={`${points}Squares are means, thick lines their 95 % intervals (Student’s t) before Holm’s correction, thin ones bootstrap intervals, dots the seeds. An interval that reaches 0 leaves open which arm is better; one that does not may do so after the correction for all arms, which the words at the right have.${few}`}
      owner={owner}
      table={() => forestTable(rows, units)}
    >
      {(id) => (
        <>
          <SizedForest rows={rows} units={units} scale={scale} at={at} onMove={move} />
          <Readout
            id={`${id}-value`}
            label="Arm"
            read={() => ({
              stops: rows.map((_, i) => i),
              at,
              text,
              ...(at === undefined
                ? {
                    written: 'Point at an arm, or move along with the arrow keys, for its numbers.',
                  }
                : {}),
            })}
            onMove={move}
            onVertical={(by) => move(Math.min(rows.length - 1, Math.max(0, (at ?? -1) - by)))}
          />
        </>
      )}
    </StillFigure>
  )
}

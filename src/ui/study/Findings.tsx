// Shows what a study found: its answer in words, charts, and what limits them.
import { useMemo, useState } from 'react'
import type { Analysis } from '../../document/study/analysis.ts'
import { boundsOf } from '../../document/study/bounds.ts'
import { heatGrid } from '../../document/study/report/heat.ts'
import {
  curveLines,
  type PictureLines,
  placeLines,
  profileLines,
  proxyLines,
  seedsText,
} from '../../document/study/report/lines.ts'
import { unitsOf } from '../../document/study/report/units.ts'
import { armSentence, bandSentence, planSentence } from '../../document/study/report/words.ts'
import type { Study } from '../../document/study/study.ts'
import { fileSlug } from '../../record/files/file_names.ts'
import { formatCount, formatNumber, formatPercent, formatShare, formatTick } from '../kit/format.ts'
import type { Owner } from '../plot/files/SaveAs.tsx'
import type { FigureLine } from '../plot/still/figure_lines.ts'
import { LinesFigure } from '../plot/still/LinesFigure.tsx'
import { ArmChoice, firstArms, looksOf } from './figures/ArmChoice.tsx'
import { ForestFigure } from './figures/ForestFigure.tsx'
import { GridFigure } from './figures/GridFigure.tsx'

/** Beyond these the bands of arms cover each other. */
const MOST_BANDS = 6

type Looks = ReturnType<typeof looksOf>

function figureLines(lines: PictureLines['lines'], looks: Looks): FigureLine[] {
  const shown = lines.flatMap((line) => {
    const look = looks.get(line.name)
    return look && line.band.at.length > 0 ? [{ ...line, look }] : []
  })
  return shown.map((line) => {
    const { name, value, look } = line
    const { at, middle, low, high } = line.band
    return {
      key: name,
      end: value,
      label: `${name}${seedsText(line)}`,
      ...look,
      at,
      middle,
      length: at.length,
      ...(shown.length <= MOST_BANDS && low !== middle ? { low, high } : {}),
    }
  })
}

interface ArmLinesProps {
  readonly id: string
  readonly note: string
  readonly picture: PictureLines | undefined
  /** Of the arms that are drawn. */
  readonly looks: Looks
  readonly owner: Owner
  readonly yUnit?: string
  readonly isShare: boolean
  readonly isFitted?: boolean
  readonly start?: number | undefined
}

/** Lines of the arms; nothing where nothing was measured. */
function ArmLines({ picture, looks, isShare, ...props }: ArmLinesProps) {
  const lines = useMemo(() => picture && figureLines(picture.lines, looks), [picture, looks])
  if (!picture || !lines || lines.length === 0) return null
  return (
    <LinesFigure
      {...props}
      title={picture.title}
      unit={picture.unit}
      lines={lines}
      isFromFirst={picture.isFitted}
      isShare={isShare}
      height={280}
      formatX={picture.x ?? formatCount}
      formatY={isShare ? formatPercent : formatTick}
      formatValue={isShare ? formatShare : formatNumber}
      hasNames
    />
  )
}

/** How the drawn arms look, and where other arms are chosen. */
function useDrawnArms(study: Study, analysis: Analysis) {
  const [own, choose] = useState<readonly string[]>()
  const chosen = useMemo(
    () => own ?? firstArms(analysis, study.measure),
    [own, analysis, study.measure],
  )
  const looks = useMemo(() => looksOf(analysis, chosen), [analysis, chosen])
  return { looks, choice: <ArmChoice analysis={analysis} chosen={chosen} onChoose={choose} /> }
}

/** What the figures show. */
const usePictures = (study: Study, analysis: Analysis) =>
  useMemo(
    () => ({
      curves: curveLines(study, analysis),
      proxy: proxyLines(study, analysis),
      profiles: profileLines(analysis),
      grid: heatGrid(study, analysis),
      layers: placeLines(study, analysis, 'layers'),
      blocks: placeLines(study, analysis, 'blocks'),
      teacher: placeLines(study, analysis, 'teacher'),
    }),
    [study, analysis],
  )

function Charts({ study, analysis }: { readonly study: Study; readonly analysis: Analysis }) {
  const drawn = usePictures(study, analysis)
  const { looks, choice } = useDrawnArms(study, analysis)
  const isShare = boundsOf(analysis.metric ?? '').high === 1
  const units = unitsOf(analysis.metric)
  const owner = { words: study.name, stem: fileSlug(study.name) || 'study' }
  const drawing = { looks, owner }
  return (
    <div className="study-figures">
      {analysis.arms.length > 1 ? (
        <ForestFigure analysis={analysis} units={units} owner={owner} />
      ) : null}
      {choice}
      <ArmLines
        id="study-curves"
        note={
          looks.size > MOST_BANDS
            ? `Mean over the seeds of each arm, without bands, because more than ${MOST_BANDS} arms are drawn: the answer comes from the differences by seed at the measure, corrected for all arms, as in the plot above.`
            : `Mean over the seeds of each arm. ${bandSentence(analysis.arms)} Bands are no test, and may overlap where arms differ: the answer comes from the differences by seed at the measure, corrected for all arms, as in the plot above.`
        }
        picture={drawn.curves}
        {...drawing}
        isShare={isShare}
        isFitted
      />
      <ArmLines
        id="study-proxy"
        note="What the policy is trained on, beside the measure above, which is meant. Where this still rises and the measure falls, the policy has learned the reward model’s mistakes (over-optimisation)."
        picture={drawn.proxy}
        {...drawing}
        isShare={false}
      />
      <ArmLines
        id="study-profiles"
        note="For each value, the share of an arm’s runs that end above it: a line further to the right is better everywhere, lines that cross are better for some seeds only. The axis begins at the lowest run, and beside each name stands the median of its runs."
        picture={drawn.profiles}
        start={analysis.arms.find(({ arm }) => arm.name === analysis.baseline)?.mean}
        {...drawing}
        isShare
      />
      {drawn.grid ? <GridFigure grid={drawn.grid} units={units} owner={owner} /> : null}
      <ArmLines
        id="study-layers"
        note="0 is the embedding. Layers below the last are read without the final norm: compare arms at a layer, not layers of an arm."
        picture={drawn.layers}
        {...drawing}
        yUnit="nats"
        isShare={false}
      />
      <ArmLines
        id="study-blocks"
        note="The start with blocks 1 to k of the trained model in place of its own: where a line rises, the block there carries some of what was learned."
        picture={drawn.blocks}
        {...drawing}
        isShare
      />
      <ArmLines
        id="study-teacher"
        note="Of the teacher’s final policy from the policy of each of the student’s layers, where held-out right answers are written: the lower, the more of the teacher a layer has."
        picture={drawn.teacher}
        {...drawing}
        yUnit="nats"
        isShare={false}
      />
    </div>
  )
}

export function Findings(props: {
  readonly study: Study
  readonly analysis: Analysis
  readonly changes: readonly string[]
}) {
  const { study, analysis, changes } = props
  const limits = [...analysis.warnings, ...changes]
  return (
    <section className="card" aria-label="What was found">
      <p className="soft">{planSentence(study, analysis)}</p>
      {limits.length > 0 ? (
        <ul className="soft" data-testid="study-limits">
          {limits.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : null}
      <Charts study={study} analysis={analysis} />
      <details className="study-in-words">
        <summary>Arm by arm, in words</summary>
        <ul data-testid="study-sentences">
          {analysis.arms
            .filter(({ comparison }) => comparison)
            .map((arm) => (
              <li key={arm.arm.name}>{armSentence(arm, analysis)}</li>
            ))}
        </ul>
      </details>
    </section>
  )
}

// Shows what a study found: its answer in words, the pictures, and what limits them.
import { useMemo } from 'react'
import { useStore } from 'zustand'
import type { Analysis } from '../../document/study/analysis.ts'
import { studyPictures } from '../../document/study/report/files.ts'
import { DARK, LIGHT } from '../../document/study/report/svg.ts'
import { armSentence, planSentence } from '../../document/study/report/words.ts'
import type { Study } from '../../document/study/study.ts'
import { type UiState, uiStore } from '../shown/store.ts'

const selectIsDark = (state: UiState) => state.is_dark

const SAYS: Readonly<Record<string, string>> = {
  'forest.svg': 'Forest plot: the difference of every arm from the first, with 95 % intervals',
  'curves.svg':
    'Curves: the measure of every arm over the budget, with 95 % bands, which end at the bounds of the measure',
  'profiles.svg': 'Performance profiles: the share of runs above each value',
  'heat.svg': 'Heat map: the mean over two settings',
  'layers.svg': 'The entropy of every layer’s policy at the end, by arm',
}

export function Findings(props: {
  readonly study: Study
  readonly analysis: Analysis
  readonly changes: readonly string[]
}) {
  const { study, analysis, changes } = props
  const is_dark = useStore(uiStore, selectIsDark)
  const pictures = useMemo(
    () => studyPictures(study, analysis, is_dark ? DARK : LIGHT),
    [study, analysis, is_dark],
  )
  const limits = [...analysis.warnings, ...changes]
  return (
    <section className="card" aria-label="What was found">
      <ul data-testid="study-sentences">
        {analysis.arms
          .filter(({ comparison }) => comparison)
          .map((arm) => (
            <li key={arm.arm.name}>{armSentence(arm, analysis.baseline)}</li>
          ))}
      </ul>
      <p className="soft">{planSentence(study, analysis)}</p>
      {limits.length > 0 ? (
        <ul className="soft" data-testid="study-limits">
          {limits.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : null}
      {[...pictures].map(([name, svg]) => (
        <img
          key={name}
          data-testid={`study-${name.replace('.svg', '')}`}
          alt={SAYS[name] ?? name}
          src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
        />
      ))}
    </section>
  )
}

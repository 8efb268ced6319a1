// Shows how many tries a problem takes (BuPO, arXiv 2512.19673, figure 6).
import { useState } from 'react'
import { useStore } from 'zustand'
import type { LabState } from '../../../page/state/store.ts'
import { formatShare } from '../../kit/format.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import { Readout } from '../../plot/Readout.tsx'
import { linearScale, logAxis } from '../../plot/still/axes.ts'
import { SvgChart } from '../../plot/still/SvgChart.tsx'
import { shownExperiment } from '../../shown/run.ts'
import { shownStore, useAtStep, useShown } from '../../shown/shown.ts'
import { uiStore } from '../../shown/store.ts'
import { type PassCurve, type PassPoint, passCurves } from '../base/history.ts'
import { stepWords } from '../base/observed.ts'
import { passSays } from '../base/says.ts'
import { INK, SOFT, STATE } from '../charts/colors.ts'
import { Figure } from '../frame/Figure.tsx'
import { useVisible } from '../frame/use_figure.ts'

const SCALE = linearScale([], [0, 1])
const selectTask = (state: LabState) => shownExperiment(state).task.id
const formatPercent = (share: number) => `${Math.round(share * 100)} %`
const shareAt = (points: readonly PassPoint[], k: number) =>
  formatShare(points.find((point) => point.k === k)?.value)

const STYLES: Readonly<
  Record<PassCurve['name'], { color: string; width: number; dash?: readonly number[] }>
> = {
  first: { color: SOFT, width: 1.5, dash: [2, 3] },
  shown: { color: STATE, width: 2.75 },
  now: { color: INK, width: 2 },
}

/** Which measurement belongs to the shown step. */
function shownWords(curves: readonly PassCurve[], atStep: number | undefined): string {
  const shown = curves.findLast(({ step }) => atStep === undefined || step <= atStep)
  return shown ? stepWords(shown.step, atStep) : `Nothing was measured until step ${atStep}.`
}

const newestPass = (task: string) =>
  passCurves(shownStore.getState().series, task, undefined).at(-1)?.step ?? -1

const styled = (curve: PassCurve) => ({
  ...curve,
  ...STYLES[curve.name],
  label: `${curve.name}: step ${curve.step}`,
})

function Curves({ curves }: { readonly curves: readonly ReturnType<typeof styled>[] }) {
  const [cursor, setCursor] = useState<number>()
  const ks = [...new Set(curves.flatMap(({ points }) => points.map(({ k }) => k)))].sort(
    (a, b) => a - b,
  )
  const k = cursor ?? ks[ks.length - 1]
  const text = `k = ${k}: ${curves.map(({ name, points }) => `${name} ${shareAt(points, k)}`).join(', ')}`
  return (
    <>
      <Keys keys={curves} />
      <SvgChart
        id="pass-chart"
        summary={`pass@k. ${text}`}
        height={190}
        axis={logAxis(ks)}
        scale={SCALE}
        formatY={formatPercent}
        lines={curves.map(({ label, color, width, dash, points }) => ({
          key: label,
          color,
          width,
          ...(dash ? { dash } : {}),
          points: points.map(({ k, value }): [number, number] => [k, value]),
        }))}
        dots={curves.map(({ label, color, points }) => ({
          key: label,
          color,
          points: points.map(({ k, value }): [number, number] => [k, value]),
        }))}
        cursor={cursor}
        onCursor={setCursor}
      />
      <Readout
        id="pass-value"
        label="k, in “Solved by at least one of k tries”"
        read={() => ({ stops: ks, at: cursor, text })}
        onMove={setCursor}
      />
      <FigureNumbers
        id="pass-numbers"
        caption="pass@k"
        table={() => ({
          columns: ['k', ...curves.map(({ label }) => label)],
          rows: ks.map((k) => [`${k}`, ...curves.map(({ points }) => shareAt(points, k))]),
        })}
      />
    </>
  )
}

export function PassFigure() {
  const { ref, isVisible } = useVisible()
  const task = useShown(selectTask)
  const atStep = useAtStep()
  // The columns are mutable: the newest step with a measurement is their version.
  useStore(uiStore, () => (isVisible ? newestPass(task) : -1))
  const curves = passCurves(shownStore.getState().series, task, atStep).map(styled)
  const words =
    curves.length > 0
      ? shownWords(curves, atStep)
      : 'No pass@k was measured. It comes from validation with several samples per problem: set “Sampled responses” of the validation above 1, and press Train.'
  return (
    <Figure
      id="pass"
      title="Solved by at least one of k tries"
      note="Share of held-out problems that at least one of k samples solves, over k on a logarithmic axis. A curve that rises at k = 1 and not at large k sharpened what the model could do already. Large k rests on few samples per problem, so the right end is the most uncertain; and where answers are few, guessing alone raises it."
      state={{
        ref,
        isVisible,
        seen: undefined,
        isEmpty: curves.length === 0,
        words,
        count: undefined,
        cost: undefined,
      }}
      says={passSays(curves)}
    >
      {curves.length > 0 ? <Curves curves={curves} /> : null}
    </Figure>
  )
}

// Draws what training one layer does to the others (BuPO, arXiv 2512.19673, figure 5).
import { useId, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { replayStore } from '../../../page/state/replay.ts'
import type { LabState } from '../../../page/state/store.ts'
import { layerName, stateName } from '../../glossary/layer_names.ts'
import { formatNats, formatNumber, formatTick } from '../../kit/format.ts'
import { selectIsReplaying } from '../../open/replays.ts'
import { Keys } from '../../plot/base/Keys.tsx'
import { FigureNumbers } from '../../plot/files/FigureNumbers.tsx'
import type { NumberTable } from '../../plot/files/number_table.ts'
import { READ } from '../../plot/reads.ts'
import { linearScale } from '../../plot/still/axes.ts'
import { depthColor, layerLook } from '../../scales/palette.ts'
import { selectIsBusy, useLab, useLastLayer } from '../../shown/run.ts'
import { shownStore, useIsPast, useShown } from '../../shown/shown.ts'
import { type UiState, uiStore } from '../../shown/store.ts'
import {
  columnsOfKept,
  divergences,
  isOneMoment,
  layerChange,
  ofKept,
  perplexity,
  spread,
} from '../base/history.ts'
import { holds, type Seen } from '../base/observed.ts'
import { similarityPoints } from '../base/points.ts'
import { targetSays } from '../base/says.ts'
import { measuredTarget, targetLayer } from '../base/target.ts'
import { STATE } from '../charts/colors.ts'
import { LayerChart } from '../charts/LayerChart.tsx'
import { MomentChart } from '../charts/MomentChart.tsx'
import { StepChart } from '../charts/StepChart.tsx'
import { Figure } from '../frame/Figure.tsx'
import { useFigure } from '../frame/use_figure.ts'

const GROUPS = ['similarity', 'flow'] as const
const QUANTITIES = ['cos_hidden'] as const
const HEIGHT = 190
/** Curves of similarity that are drawn at most. */
const CURVES = 8
const ZERO: readonly number[] = [0]
const ONE: readonly number[] = [1]

const selectIsDark = ({ isDark }: UiState) => isDark
const selectThreshold = ({ ffn_threshold }: UiState) => ffn_threshold
const selectObservations = (state: LabState) => state.kept.observations

/** Layers that are named where there are many: at even distances, with the first and the last. */
function spreadLayers(last: number): number[] {
  const every = Math.ceil(last / 6)
  const inner = Array.from({ length: last }, (_, layer) => layer).filter(
    (layer) => layer % every === 0 && (layer === 0 || last - layer >= every),
  )
  return [...inner, last]
}

/** One curve per kept step, the shown one strongest. */
function Similarity({ seen, k }: { seen: Seen; k: number }) {
  const kept = useShown(selectObservations)
  const isDark = useStore(uiStore, selectIsDark)
  const until = kept.items.filter(
    ({ step, item }) =>
      step <= seen.step && item.rows === seen.item.rows && holds(item, QUANTITIES),
  )
  const curves = spread(until, CURVES).map(({ step, item }) => ({
    step,
    points: similarityPoints(item, k),
  }))
  const newest = curves[curves.length - 1]
  const lines = curves.map(({ step, points }, i) => ({
    key: `${step}`,
    color: depthColor(i, curves.length - 1, isDark),
    width: i === curves.length - 1 ? 2.75 : 1.25,
    points,
  }))
  const at = (points: typeof newest.points, j: number) => formatNumber(points[j]?.[1])
  return (
    <div>
      <LayerChart
        id="similarity"
        title={`Cosine of H of ${stateName(k)} with H of every layer`}
        summary={`Cosine of ${stateName(k)} with the last layer: ${at(newest.points, newest.points.length - 1)} at step ${newest.step}, ${at(curves[0].points, curves[0].points.length - 1)} at step ${curves[0].step}.`}
        first={0}
        last={seen.item.num_hidden_layers}
        height={HEIGHT}
        scale={linearScale(
          curves.flatMap(({ points }) => points.map(([, value]) => value)),
          ONE,
        )}
        formatY={formatTick}
        lines={lines}
        read={(j) =>
          `${j === 0 ? 'Embedding' : `Layer ${j}`}: ${at(newest.points, j)} at step ${newest.step}${curves.length > 1 ? `, ${at(curves[0].points, j)} at step ${curves[0].step}` : ''}`
        }
      />
      <Keys keys={lines.map(({ key, color }) => ({ label: `step ${key}`, color }))} />
    </div>
  )
}

const useChange = (k: number) =>
  useMemo(
    () =>
      ofKept((items) => [
        {
          key: 'change',
          label: `ΔH of layer ${k}`,
          color: '--series-1',
          columns: columnsOfKept(items, (observation) => layerChange(observation, k)),
          hasDots: true,
        },
      ]),
    [k],
  )

const useSurprise = () =>
  useMemo(
    () =>
      ofKept((items) => [
        {
          key: 'perplexity',
          label: 'perplexity',
          color: '--series-2',
          columns: columnsOfKept(items, perplexity),
          hasDots: true,
        },
      ]),
    [],
  )

interface OverStepsProps {
  readonly k: number
  readonly layers: number
  readonly isVisible: boolean
}

/** The KL from layer k to every layer; only a few of the lines are named. */
function Divergence({ k, layers, isVisible }: OverStepsProps) {
  const isDark = useStore(uiStore, selectIsDark)
  const named = useMemo(() => spreadLayers(layers), [layers])
  const divergence = useMemo(
    () =>
      ofKept((items) =>
        divergences(items, k, layers).map((columns, j) => ({
          key: `${j}`,
          label: layerName(j, layers),
          isQuiet: !named.includes(j),
          ...layerLook(j, layers, isDark),
          columns,
          hasDots: true,
        })),
      ),
    [k, layers, isDark, named],
  )
  return (
    <StepChart
      id="divergence"
      title={`Divergence KL(π of ${stateName(k)} ‖ π of layer j), nats`}
      isVisible={isVisible}
      lines={divergence}
      must={ZERO}
      formatValue={formatNumber}
    >
      <Keys
        keys={named.map((j) => ({
          label: layerName(j, layers),
          ...layerLook(j, layers, isDark),
        }))}
      />
    </StepChart>
  )
}

/** Over the steps. */
function OverSteps({ k, layers, isVisible }: OverStepsProps) {
  const change = useChange(k)
  const surprise = useSurprise()
  return (
    <>
      <StepChart
        id="layer-change"
        title={k === 0 ? 'ΔH: choose a layer above the embedding' : `ΔH of layer ${k}, nats`}
        isVisible={isVisible}
        lines={change}
        must={ZERO}
        formatValue={formatNats}
      />
      <StepChart
        id="perplexity"
        title="Perplexity of the final policy on these tokens"
        isVisible={isVisible}
        lines={surprise}
        must={ONE}
        formatValue={formatNumber}
      />
      <Divergence k={k} layers={layers} isVisible={isVisible} />
    </>
  )
}

/** The same of one moment: its numbers, and the KL over the layers. */
function OneMoment({ seen, k }: { readonly seen: Seen; readonly k: number }) {
  const { item, step } = seen
  const kl = item.layer === k ? item.mean.kl_of_layer : undefined
  return (
    <div>
      {kl ? (
        <MomentChart
          id="divergence-moment"
          title={`Divergence KL(π of ${stateName(k)} ‖ π of layer j) at step ${step}`}
          last={item.num_hidden_layers}
          lines={[{ label: 'KL', color: STATE, first: 0, values: kl }]}
          must={ZERO}
        />
      ) : null}
      <p className="soft" data-testid="target-moment">
        Only this moment was looked at.{' '}
        {k === 0 ? '' : `Layer ${k} changes the entropy by ${formatNats(layerChange(item, k))}. `}
        The perplexity of the final policy on these tokens is {formatNumber(perplexity(item))}.
      </p>
    </div>
  )
}

function numbers({ item, step }: Seen, k: number): NumberTable {
  const measured = item.layer === k ? item.mean.kl_of_layer : undefined
  return {
    columns: ['layer j', `cosine with ${stateName(k)}`, `KL from ${stateName(k)}, nats`],
    rows: [
      ...similarityPoints(item, k).map(([j, value]) => [
        j === 0 ? 'embedding' : `${j}`,
        formatNumber(value),
        formatNumber(measured?.[j]),
      ]),
      [`ΔH of ${stateName(k)}, step ${step}`, formatNats(layerChange(item, k)), ''],
      [`perplexity, step ${step}`, formatNumber(perplexity(item)), ''],
    ],
  }
}

function LayerChoice(props: {
  readonly k: number
  readonly layers: number
  readonly onChoose: (layer: number) => void
}) {
  const { k, layers, onChoose } = props
  const id = useId()
  return (
    <span className="figure-choice">
      <label htmlFor={id}>Layer k</label>
      <select
        id={id}
        data-testid="target-layer"
        value={k}
        onChange={({ target: { value } }) => onChoose(Number(value))}
      >
        {Array.from({ length: layers + 1 }, (_, layer) => (
          <option key={layer} value={layer}>
            {layerName(layer, layers)}
          </option>
        ))}
      </select>
    </span>
  )
}

export function TargetFigure() {
  const layers = useLastLayer()
  const threshold = useStore(uiStore, selectThreshold)
  const isOn = useLab(selectIsBusy)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const isPast = useIsPast()
  const choose = isOn && !isReplaying && !isPast ? targetLayer : measuredTarget
  const wanted = useStore(uiStore, () => choose(shownStore.getState(), threshold))
  const [chosen, setChosen] = useState<number>()
  const k = Math.min(layers, chosen ?? wanted)
  const state = useFigure('target', GROUPS, QUANTITIES, k)
  const { seen } = state
  const { items } = shownStore.getState().kept.observations
  return (
    <Figure
      id="target"
      title="One layer against the others"
      how={READ.raw}
      note="Whether the chosen layer comes to look like the layers above it, and what that does to the model: a KL that first falls and then shoots up, with a rising perplexity, is how a first phase that is too long breaks a model. A cosine can rise because all states share one long direction, and perplexity during reinforcement is of responses that the model itself wrote, so a model that repeats itself has a low one. It is read at temperature 1: responses that were sampled at a higher temperature surprise the policy more than its entropy says."
      state={state}
      says={seen && targetSays(items, seen, k)}
      controls={<LayerChoice k={k} layers={layers} onChoose={setChosen} />}
    >
      {seen ? (
        <>
          <div className="figure-grid two">
            <Similarity seen={seen} k={k} />
            {isOneMoment(items, QUANTITIES) ? (
              <OneMoment seen={seen} k={k} />
            ) : (
              <OverSteps k={k} layers={layers} isVisible={state.isVisible} />
            )}
          </div>
          {seen.item.layer === k ? null : (
            <p className="soft" data-testid="target-other">
              At this step the KL was measured from {stateName(seen.item.layer)}; its chart shows
              steps that were measured from {stateName(k)}.
            </p>
          )}
          <FigureNumbers
            id="target-numbers"
            caption={`The others against ${stateName(k)} at step ${seen.step}`}
            table={() => numbers(seen, k)}
          />
        </>
      ) : null}
    </Figure>
  )
}

// Shows which layer knows it. A linear probe for each layer of every kept state looks for a
// property of the problem.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { taskProperties } from '../../document/experiment/task_card.ts'
import type { ProbedState, Probes } from '../../host/protocol/touch.ts'
import { runColor } from '../../record/run/record.ts'
import { lastStateSays, stateLabel } from '../glossary/layer_names.ts'
import { formatPercent, formatShare } from '../kit/format.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import type { Cell } from '../plot/still/CellMap.tsx'
import { LinesFigure } from '../plot/still/LinesFigure.tsx'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'
import { ownerOfShown } from './owner.ts'
import { overRecord, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'
import {
  bestOf,
  isFound,
  probeLines,
  probeLinesOverSteps,
  probeSays,
  probesSay,
  probesTable,
  probesTitle,
  toldApart,
} from './words/probe_words.ts'

/** Half of them are fitted on. */
const PROBLEMS = 128
const NOTE =
  'A linear classifier is fitted on the states of half of the held-out problems where the answer begins (for the next token, at each token of the answer), and asked about the other half. It misleads: what can be read from a layer need not be used by the model, so switch parts off or exchange states to see whether it matters; and a property is found, too, where only one is held that goes with it.'
/** Of the probes and of their control. */
const LOOKS = [runColor(0), runColor(1)]
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found
const formatLayer = (layer: number) => `${layer}`

const cellOf = ({ layers }: ProbedState, layer: number): Cell => {
  const one = layers[layer]
  const text = (100 * one.accuracy.mean).toFixed(0)
  const found = isFound(one)
  return {
    text: found ? text : `(${text})`,
    tone: found ? 'more' : 'known',
    share: found ? Math.min(1, one.gain.mean) : 0,
  }
}

function ProbesMap({ probes }: { readonly probes: Probes }) {
  const states = toldApart(probes)
  const layers = states[0].layers.map((_, layer) => layer).reverse()
  return (
    <TouchMap
      id="probes-map"
      title={probesTitle(probes)}
      note={`Columns are kept states. The more orange, the more than with shuffled labels; in brackets what the problems cannot tell from them. ${lastStateSays(layers[0])}`}
      columns={states.map(({ step }) => `step ${step}`)}
      rows={layers.map(stateLabel)}
      cells={layers.map((layer) => states.map((state) => cellOf(state, layer)))}
      table={() => probesTable(probes)}
      label="State, and layer by up and down"
      said={({ row, column }) => probeSays(states[column], layers[row])}
      hint="Point at a cell, or move along with the arrow keys, for its interval."
    />
  )
}

function Curve({ probes }: { readonly probes: Probes }) {
  const newest = toldApart(probes).at(-1)
  const lines = useMemo(() => (newest ? probeLines(newest, LOOKS) : []), [newest])
  return (
    <LinesFigure
      id="probes-curve"
      title={`Accuracy of the probes after step ${newest?.step}`}
      note="Of held-out problems that no probe was fitted on, layer by layer; of a problem with several tokens, the share told. Bands are 95 % intervals over the problems."
      owner={ownerOfShown()}
      unit="layer"
      lines={lines}
      isShare
      height={200}
      formatX={formatLayer}
      formatY={formatPercent}
      formatValue={formatShare}
      hasNames
      table={() => probesTable(probes)}
    />
  )
}

function OverTraining({ probes }: { readonly probes: Probes }) {
  const states = toldApart(probes)
  const newest = states[states.length - 1]
  const [chosen, setChosen] = useState<number>()
  const layer = Math.min(chosen ?? bestOf(newest), newest.layers.length - 1)
  const lines = useMemo(() => probeLinesOverSteps(probes, layer, LOOKS), [probes, layer])
  if (states.length < 2) return null
  return (
    <>
      <label>
        <span className="soft">Over training, of layer</span>{' '}
        <select
          data-testid="probes-layer"
          value={layer}
          onChange={({ target }) => setChosen(Number(target.value))}
        >
          {newest.layers.map((_, l) => (
            <option key={l} value={l}>
              {l}
            </option>
          ))}
        </select>
      </label>
      <LinesFigure
        id="probes-steps"
        title={`Accuracy of the probes of layer ${layer} over training`}
        note="At every kept state a new probe is fitted, and asked about the same held-out problems. Bands are 95 % intervals over the problems."
        owner={ownerOfShown()}
        unit="step"
        lines={lines}
        isShare
        height={200}
        formatX={formatLayer}
        formatY={formatPercent}
        formatValue={formatShare}
        hasNames
        table={() => probesTable(probes)}
      />
    </>
  )
}

const selectTask = (state: ReturnType<typeof shownStore.getState>) => shownExperiment(state).task

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const properties = taskProperties(useStore(shownStore, selectTask))
  const [property, setProperty] = useState('next_token')
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'probes'))
  if (steps.length === 0) return null
  const probes = found?.what === 'probes' ? found.probes : undefined
  const work = { what: 'probes', property, problems: PROBLEMS, seed: 1, l2: 1 } as const
  return (
    <TouchCard
      id="probes"
      title="Which layer knows it?"
      what="probes"
      record={record}
      says={probes && probesSay(probes)}
      note={NOTE}
      action="Fit probes"
      onStart={() => void touch(record, [...steps].reverse(), work)}
      choices={
        <label>
          <span className="soft">What the probes look for</span>{' '}
          <select
            data-testid="probes-property"
            value={property}
            onChange={({ target }) => setProperty(target.value)}
          >
            {properties.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {probes ? (
        <>
          <ProbesMap probes={probes} />
          <Curve probes={probes} />
          <OverTraining probes={probes} />
        </>
      ) : null}
    </TouchCard>
  )
}

export const ProbesCard = overRecord(OfRecord)

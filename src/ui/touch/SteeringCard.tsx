// Shows what a direction does. A vector for each layer of a kept state is added to the states, at
// several strengths, and the held-out problems are answered again.
import { useState } from 'react'
import { useStore } from 'zustand'
import type { Steering, SteeringEffect, SteeringSource } from '../../host/protocol/touch.ts'
import { saveFile } from '../kit/save.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import { costCell, largestOf, MeasureChoice } from './MeasureChoice.tsx'
import { ownerOfShown } from './owner.ts'
import { SteeringTrial } from './SteeringTrial.tsx'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { TrainFromVectors } from './TrainFromVectors.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'
import { estimateText, measuresOf } from './words/part_words.ts'
import { effectName, layerName, steeringSays, steeringTable } from './words/steer_words.ts'

const STRENGTHS = [-4, -2, -1, 1, 2, 4]
/** Half of them make the vectors. */
const PROBLEMS = 128
const NOTE =
  'A vector is added to the state after a layer, for every token. From answers it is the mean state of held-out problems that are solved less that of those that are failed, of one half; the other half is answered with it. It misleads: what goes with being right need not cause it, such as short problems; small strengths do nothing and large ones break any text, so look at the entropies too.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

function SteeringMap({ steering }: { readonly steering: Steering }) {
  const { effects } = steering
  const measures = measuresOf(steering)
  const [key, setKey] = useState('reward')
  const measure = measures.find((one) => one.key === key) ?? measures[0]
  const height = (layer: SteeringEffect['layer']) => (layer === 'all' ? Infinity : layer)
  const layers = [...new Set(effects.map(({ layer }) => layer))].sort(
    (a, b) => height(b) - height(a),
  )
  const grid = layers.map((layer) => effects.filter((effect) => effect.layer === layer))
  const largest = largestOf(effects, measure)
  return (
    <>
      <MeasureChoice
        id="steering-measure"
        label="What it changes"
        measures={measures}
        value={measure.key}
        onChange={setKey}
      />
      <TouchMap
        id="steering-map"
        title={`Change of the ${measure.label} with a vector`}
        note="Columns are strengths. Orange is more, blue is less than without; in brackets what the problems cannot tell from none."
        columns={grid[0].map(({ strength }) => `× ${strength}`.replace('-', '−'))}
        rows={layers.map(layerName)}
        cells={grid.map((row) => row.map((effect) => costCell(effect, measure, largest)))}
        table={() => steeringTable(steering)}
        label="Strength, and layer by up and down"
        said={({ row, column }) => {
          const found = measure.of(grid[row][column])
          return `${effectName(grid[row][column])}: ${found ? estimateText(found, measure.unit) : 'not measured'}`
        }}
        hint="Point at a cell, or move along with the arrow keys, for its interval."
      />
      <p>
        <button
          type="button"
          data-testid="steering-save"
          onClick={() =>
            saveFile(
              `${ownerOfShown().stem}.steering.safetensors`,
              new Blob([steering.file], { type: 'application/octet-stream' }),
            )
          }
        >
          Save the vectors
        </button>{' '}
        <TrainFromVectors steering={steering} />
      </p>
    </>
  )
}

interface Chosen {
  readonly from: SteeringSource['from']
  readonly toward: string
  readonly away: string
  readonly file: { readonly name: string; readonly bytes: Uint8Array } | undefined
}

const sourceOf = ({ from, toward, away, file }: Chosen): SteeringSource | undefined =>
  from === 'texts' ? { from, toward, away } : from === 'file' ? file && { from, ...file } : { from }

function SourceChoice(props: {
  readonly chosen: Chosen
  readonly onChange: (chosen: Chosen) => void
}) {
  const { chosen, onChange } = props
  const text = (name: 'toward' | 'away', label: string) => (
    <label>
      <span className="soft">{label}</span>{' '}
      <input
        data-testid={`steering-${name}`}
        value={chosen[name]}
        onChange={({ target }) => onChange({ ...chosen, [name]: target.value })}
      />
    </label>
  )
  return (
    <>
      <label>
        <span className="soft">The vectors come from</span>{' '}
        <select
          data-testid="steering-from"
          value={chosen.from}
          onChange={({ target }) =>
            onChange({ ...chosen, from: target.value as SteeringSource['from'] })
          }
        >
          <option value="answers">solved less failed problems</option>
          <option value="texts">two texts</option>
          <option value="file">a file</option>
          <option value="run">what this run has trained</option>
        </select>
      </label>
      {chosen.from === 'texts' ? (
        <>
          {text('toward', 'Toward')}
          {text('away', 'Away from')}
        </>
      ) : null}
      {chosen.from === 'file' ? (
        <input
          type="file"
          accept=".safetensors"
          aria-label="Steering vectors"
          data-testid="steering-file"
          onChange={async ({ target }) => {
            const [file] = target.files ?? []
            const bytes = file && new Uint8Array(await file.arrayBuffer())
            onChange({ ...chosen, file: bytes && { name: file.name, bytes } })
          }}
        />
      ) : null}
    </>
  )
}

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [at, setAt] = useState<number>()
  const [chosen, setChosen] = useState<Chosen>({
    from: 'answers',
    toward: '',
    away: '',
    file: undefined,
  })
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'steering'))
  if (steps.length === 0) return null
  const step = at ?? steps[0]
  const steering = found?.what === 'steering' ? found.steering : undefined
  const source = sourceOf(chosen)
  return (
    <TouchCard
      id="steering"
      title="What does a direction do?"
      what="steering"
      record={record}
      says={steering && steeringSays(steering)}
      note={NOTE}
      action="Steer it"
      missing={source ? undefined : 'Choose a file of steering vectors first'}
      onStart={() => {
        if (!source) return
        const work = { what: 'steering', source, problems: PROBLEMS, seed: 1 } as const
        void touch(record, [step], { ...work, strengths: STRENGTHS })
      }}
      choices={
        <>
          <StateChoice
            id="steering-step"
            label="In the state after"
            steps={steps}
            value={step}
            onChange={setAt}
          />
          <SourceChoice chosen={chosen} onChange={setChosen} />
        </>
      }
    >
      {steering ? <SteeringMap steering={steering} /> : null}
      {steering && steering.effects.length > 0 ? (
        <SteeringTrial key={steering.made} record={record} steering={steering} />
      ) : null}
    </TouchCard>
  )
}

export const SteeringCard = overRecord(OfRecord)

// Shows how else a layer can be read. Lenses are fitted on what a kept state writes, and every
// layer is read raw, through the norm, and through them.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { GivenLens, Touched } from '../../host/protocol/touch.ts'
import { runColor } from '../../record/run/record.ts'
import { formatNats, formatTick } from '../kit/format.ts'
import { saveFile } from '../kit/save.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import { LinesFigure } from '../plot/still/LinesFigure.tsx'
import { layerLook } from '../scales/palette.ts'
import { type UiState, uiStore } from '../shown/store.ts'
import { ownerOfShown } from './owner.ts'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { TrainThroughLenses } from './TrainThroughLenses.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'
import {
  columnNames,
  layerLines,
  layersTable,
  READ_MEASURES,
  READING_NAMES,
  READINGS,
  type Reading,
  type ReadMeasure,
  readingLines,
  readingOrigin,
  readingsSay,
  readingsTable,
  saidTable,
  saidUnder,
  saysNext,
} from './words/reading_words.ts'

type Read = Extract<Touched, { what: 'readings' }>

/** Fewer texts and steps than on the command line: a page waits for them. */
const SETTINGS = { texts: 64, held_out: 64, steps: 120, lr: 0.01, skip_first: 0 } as const
const NOTE =
  'A layer has a policy only once it is said how its state is read. On what the model itself writes, a tuned lens is fitted, an affine map for each layer that brings its policy nearest to the final one; and a Jacobian lens, how the last state answers to the layer’s on average. It misleads: a tuned lens that reads an answer in an early layer may compute it itself, so it says what can be read, not what the model uses; a Jacobian is an average, and wrong where the model bends.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found
const selectIsDark = ({ isDark }: UiState) => isDark
const formatLayer = (layer: number) => `${layer}`

function Choice<K extends string>(props: {
  readonly id: string
  readonly label: string
  readonly names: readonly (readonly [K, string])[]
  readonly value: K
  readonly onChange: (key: K) => void
}) {
  const { id, label, names, value, onChange } = props
  return (
    <label>
      <span className="soft">{label}</span>{' '}
      <select data-testid={id} value={value} onChange={({ target }) => onChange(target.value as K)}>
        {names.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function Curves({ read }: { readonly read: Read }) {
  const [measure, setMeasure] = useState<ReadMeasure>('kl')
  const { readings, step } = read
  const lines = useMemo(
    () =>
      readingLines(
        readings,
        measure,
        READINGS.map((_, i) => runColor(i)),
      ),
    [readings, measure],
  )
  const label = READ_MEASURES.find(({ key }) => key === measure)?.label ?? ''
  return (
    <>
      <Choice
        id="readings-measure"
        label="Of every layer"
        names={READ_MEASURES.map(({ key, label }) => [key, label])}
        value={measure}
        onChange={setMeasure}
      />
      <LinesFigure
        id="readings-curve"
        title={`${label} of every layer after step ${step}, in four readings`}
        note="Tokens of held-out texts that the model wrote. A tuned lens begins as the normed state. At the end of all lines is the final policy."
        owner={ownerOfShown()}
        unit="layer"
        yUnit="nats"
        lines={lines}
        isShare={false}
        height={240}
        formatX={formatLayer}
        formatY={formatTick}
        formatValue={formatNats}
        hasNames
        start={Math.max(0, readings.layers[readings.layers.length - 1].layer - 1)}
        table={() => readingsTable(readings)}
      />
    </>
  )
}

/** The layers over the kept states, in the reading that is named. */
function OverSteps({ read }: { readonly read: Read }) {
  const [reading, setReading] = useState<Reading>('tuned')
  const [measure, setMeasure] = useState<ReadMeasure>('entropy')
  const isDark = useStore(uiStore, selectIsDark)
  const { readings, step } = read
  const lines = useMemo(
    () => layerLines(readings, reading, measure, (layer, last) => layerLook(layer, last, isDark)),
    [readings, reading, measure, isDark],
  )
  if (readings.states.length < 2) return null
  const label = READ_MEASURES.find(({ key }) => key === measure)?.label ?? ''
  return (
    <>
      <div className="touch-choices">
        <Choice
          id="readings-steps-measure"
          label="Over the run"
          names={READ_MEASURES.map(({ key, label }) => [key, label])}
          value={measure}
          onChange={setMeasure}
        />
        <Choice
          id="readings-steps-reading"
          label="read"
          names={READINGS.map((key) => [key, READING_NAMES[key]])}
          value={reading}
          onChange={setReading}
        />
      </div>
      <LinesFigure
        id="readings-steps"
        title={`${label} of every layer over the run: ${readingOrigin(readings, reading, step)}`}
        note="Every kept state reads the same held-out texts. A lens stays as it was fitted, so further from its state it is less of a translator."
        owner={ownerOfShown()}
        unit="step"
        yUnit="nats"
        lines={lines}
        isShare={false}
        height={220}
        formatX={formatLayer}
        formatY={formatTick}
        formatValue={formatNats}
        hasNames
        table={() => layersTable(readings, reading, measure)}
      />
    </>
  )
}

function Texts({ read }: { readonly read: Read }) {
  const [reading, setReading] = useState<Reading>('tuned')
  const [chosen, setChosen] = useState('0')
  const { texts } = read.readings
  const text = texts[Number(chosen)] ?? texts[0]
  const rows = saidUnder(text, reading)
  return (
    <>
      <div className="touch-choices">
        <Choice
          id="readings-reading"
          label="Read"
          names={READINGS.map((key) => [key, READING_NAMES[key]])}
          value={reading}
          onChange={setReading}
        />
        <Choice
          id="readings-text"
          label="in the text"
          names={texts.map(({ tokens }, i) => [`${i}`, tokens.join('')])}
          value={chosen}
          onChange={setChosen}
        />
      </div>
      <TouchMap
        id="readings-map"
        title={`What each layer would say next: ${READING_NAMES[reading]}`}
        note="Columns are the tokens of a held-out text, rows are layers; on top the final policy. The more orange, the likelier the token is."
        columns={columnNames(text)}
        rows={rows.map(({ layer }) => `layer ${layer}`)}
        cells={rows.map(({ top, probs }) =>
          top.map((token, i) => ({ text: token, tone: 'more' as const, share: probs[i] })),
        )}
        table={() => saidTable(text, reading)}
        label="Token, and layer by up and down"
        said={({ row, column }) => saysNext(text, reading, row, column)}
        hint="Point at a cell, or move along with the arrow keys, for its probability."
      />
    </>
  )
}

/** Whatever is in them: the worker says what is no lens of the model. */
const lensesOf = (files: FileList | null): Promise<readonly GivenLens[]> =>
  Promise.all(
    [...(files ?? [])].map(async (file) => ({
      name: file.name,
      bytes: new Uint8Array(await file.arrayBuffer()),
    })),
  )

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [chosen, setChosen] = useState<number>()
  const [lenses, setLenses] = useState<readonly GivenLens[]>([])
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'readings'))
  if (steps.length === 0) return null
  const step = chosen ?? steps[0]
  const read = found?.what === 'readings' ? found : undefined
  const save = ({ files }: Read) => {
    for (const { name, bytes } of files)
      saveFile(
        `${ownerOfShown().stem}.${name}`,
        new Blob([bytes], { type: 'application/octet-stream' }),
      )
  }
  return (
    <TouchCard
      id="readings"
      title="How else can a layer be read?"
      what="readings"
      record={record}
      says={read && readingsSay(read.readings, read.step)}
      note={NOTE}
      action={lenses.length > 0 ? 'Read through them' : 'Fit the lenses'}
      onStart={() => {
        const others = steps.filter((other) => other !== step)
        const given = lenses.length > 0 && { lenses }
        void touch(record, [step, ...others], { what: 'readings', settings: SETTINGS, ...given })
      }}
      choices={
        <>
          <StateChoice
            id="readings-step"
            label="In the state after"
            steps={steps}
            value={step}
            onChange={setChosen}
          />
          <label>
            <span className="soft">with lenses from files</span>{' '}
            <input
              type="file"
              accept=".safetensors"
              multiple
              data-testid="readings-files"
              onChange={async ({ target }) => setLenses(await lensesOf(target.files))}
            />
          </label>
        </>
      }
    >
      {read ? (
        <>
          <Curves read={read} />
          <OverSteps read={read} />
          <Texts read={read} />
          <p>
            <button type="button" data-testid="readings-save" onClick={() => save(read)}>
              Save the lenses
            </button>{' '}
            <TrainThroughLenses files={read.files} />
          </p>
        </>
      ) : null}
    </TouchCard>
  )
}

export const ReadingsCard = overRecord(OfRecord)

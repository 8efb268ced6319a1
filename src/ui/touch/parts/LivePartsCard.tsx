// Shows what each part did while the run trained: a map of the shown step, and the course of a few
// parts over the steps. Nothing where that was not measured.
import { useMemo, useState } from 'react'
import { runColor } from '../../../record/run/record.ts'
import { formatTick } from '../../kit/format.ts'
import { LinesFigure } from '../../plot/still/LinesFigure.tsx'
import { useKept } from '../../shown/rested.ts'
import { differenceText } from '../../shown/run_words.ts'
import { useAtStep } from '../../shown/shown.ts'
import { ownerOfShown } from '../owner.ts'
import { partGroups, partLines, partStepsTable, type StepCosts } from '../words/live_part_words.ts'
import { measuresOf, partsSay } from '../words/part_words.ts'
import { PartsMap } from './PartsMap.tsx'

const formatStep = (step: number) => `${step}`
const formatCost = (value: number | undefined) =>
  value === undefined ? '–' : differenceText(value, false)

/** What was measured, the same model's parts at every step. */
function useMeasured(): readonly StepCosts[] {
  const { items } = useKept().observations
  const all = items.flatMap(({ step, item }) => (item.parts ? [{ step, costs: item.parts }] : []))
  const count = all.at(-1)?.costs.parts.length
  return all.filter(({ costs }) => costs.parts.length === count)
}

function OverSteps({ items }: { readonly items: readonly StepCosts[] }) {
  const newest = items[items.length - 1].costs
  const measures = measuresOf(newest)
  const groups = partGroups(newest.parts)
  const [groupKey, setGroup] = useState(groups[0].key)
  const [measureKey, setMeasure] = useState(measures[0].key)
  const group = groups.find(({ key }) => key === groupKey) ?? groups[0]
  const measure = measures.find(({ key }) => key === measureKey) ?? measures[0]
  const lines = useMemo(() => partLines(items, group, measure, runColor), [items, group, measure])
  const choose = (id: string, label: string, names: readonly { key: string; label: string }[]) => {
    const [value, set] =
      id === 'live-parts-group' ? [group.key, setGroup] : [measure.key, setMeasure]
    return (
      <label>
        <span className="soft">{label}</span>{' '}
        <select data-testid={id} value={value} onChange={({ target }) => set(target.value)}>
          {names.map(({ key, label }) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </label>
    )
  }
  return (
    <>
      <div className="touch-choices">
        {choose('live-parts-group', 'Over the steps, without', groups)}
        {choose('live-parts-steps-measure', 'the change of the', measures)}
      </div>
      <LinesFigure
        id="live-parts-steps"
        title={`Change of the ${measure.label} without a part, over training`}
        note="Each part by itself, the same held-out problems at every step. Bands are 95 % intervals over the problems."
        owner={ownerOfShown()}
        unit="step"
        yUnit={measure.unit.trim() || undefined}
        lines={lines}
        isShare={false}
        height={220}
        formatX={formatStep}
        formatY={formatTick}
        formatValue={formatCost}
        hasNames
        table={() => partStepsTable(items, group, measure)}
      />
    </>
  )
}

export function LivePartsCard() {
  const items = useMeasured()
  const atStep = useAtStep()
  const shown = items.findLast(({ step }) => atStep === undefined || step <= atStep) ?? items[0]
  if (!shown) return null
  return (
    <section className="card touch" aria-labelledby="live-parts-title" data-testid="live-parts">
      <h2 id="live-parts-title">What did each part do while it trained?</h2>
      <p className="figure-says" data-testid="live-parts-says">
        After step {shown.step}: {partsSay(shown.costs)}
      </p>
      <p className="soft">
        After some validations each part wrote nothing in its place, and the same held-out problems
        were answered. They are few, so small costs do not show; switch the parts of a kept state
        off for narrower intervals. Parts stand in for one another, so a small cost does not say
        that a part is idle.
      </p>
      <PartsMap id="live-parts" costs={shown.costs} when={`after step ${shown.step}`} />
      <OverSteps items={items} />
    </section>
  )
}

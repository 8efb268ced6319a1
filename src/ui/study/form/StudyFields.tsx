// Draws the fields of a study that is being written: which fields have several values and how they
// are tried, how many seeds, what is equal, and what is measured.
import { type ReactNode, useState } from 'react'
import { experimentFields } from '../../../document/experiment/form/form.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import {
  type Draft,
  type DraftAxis,
  type DraftField,
  MOST_SEEDS,
} from '../../../document/study/draft/draft.ts'
import { measureWords } from '../../../document/study/report/measure_words.ts'
import { FEWEST_PAIRS } from '../../../document/study/statistics/student.ts'
import { presentSettings } from '../../../page/study/present_settings.ts'
import { FieldPicker } from '../../runs/compare/FieldPicker.tsx'
import { useLab } from '../../shown/run.ts'

const METRICS = {
  'acc/greedy': 'held-out accuracy (greedy)',
  'critic/score/mean': 'reward in training',
} as const
const KINDS = {
  all: 'every combination',
  random: 'random search',
  halving: 'successive halving',
} as const
const MOST_AXES = 6
/** Sentences of one field: a value can break many arms. */
const SHOWN = 2

/** What is wrong with a field, under it. */
export type Problems = ReadonlyMap<DraftField, readonly string[]>

interface FieldProps {
  readonly draft: Draft
  readonly problems: Problems
  set(change: Partial<Draft>): void
}

/** The id of a field's problems, for `aria-describedby`; none where it has none. */
export const described = (problems: Problems, field: DraftField) =>
  problems.has(field)
    ? ({ 'aria-describedby': `study-problem-${field}`, 'aria-invalid': true } as const)
    : {}

/** What is wrong with a field. */
export function Problem(props: { readonly problems: Problems; readonly field: DraftField }) {
  const { problems, field } = props
  const found = problems.get(field)
  if (!found) return null
  return (
    <span
      className="bad"
      role="alert"
      id={`study-problem-${field}`}
      data-testid={`study-problem-${field}`}
    >
      {found.slice(0, SHOWN).join(' ')}
      {found.length > SHOWN ? ` And ${found.length - SHOWN} more.` : ''}
    </span>
  )
}

/** A select with its label. */
function Choice(props: {
  readonly label: string
  readonly id: string
  readonly value: string
  readonly options: Readonly<Record<string, string>>
  readonly children?: ReactNode
  onChange(value: string): void
}) {
  const { label, id, value, options, children, onChange } = props
  return (
    <label>
      {label}
      <select data-testid={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {Object.entries(options).map(([own, text]) => (
          <option key={own} value={own}>
            {text}
          </option>
        ))}
      </select>
      {children}
    </label>
  )
}

/** A whole number with its label. */
function Count(props: {
  readonly label: string
  readonly name: 'seeds' | 'settings' | 'finalists' | 'choosing'
  readonly most: number
  readonly of: FieldProps
  readonly children?: ReactNode
}) {
  const { label, name, most } = props
  const { draft, problems, set } = props.of
  return (
    <label>
      {label}
      <input
        type="number"
        data-testid={`study-${name}`}
        min={1}
        max={most}
        value={Number.isNaN(draft[name]) ? '' : draft[name]}
        {...described(problems, name)}
        onChange={({ target }) =>
          set({ [name]: target.value === '' ? Number.NaN : Number(target.value) })
        }
      />
      <Problem problems={problems} field={name} />
      {props.children}
    </label>
  )
}

/** Fields with several values, a row each, and how their values are tried. */
export function Axes(
  props: FieldProps & {
    /** The present settings where not given. */
    readonly base: Experiment | undefined
    onLeave(axis: number): void
  },
) {
  const { draft, problems, base, set, onLeave } = props
  const present = useLab(presentSettings)
  const fields = experimentFields(base ?? present).filter(
    ({ hasEffect, path }) => hasEffect && path !== 'seed' && path !== 'name',
  )
  const isOfArms = draft.way === 'arms'
  const change = (i: number, own: Partial<DraftAxis>) =>
    set({ axes: draft.axes.map((axis, k) => (k === i ? { ...axis, ...own } : axis)) })
  return (
    <>
      {draft.axes.map(({ path, values, unknown }, i) => (
        <div className="study-fields" key={`axis ${i}`}>
          <div className="study-field" role="group" aria-label={`Field ${i + 1}`}>
            {i > 0 ? `Field ${i + 1}` : isOfArms ? 'Also a field with several values' : 'Field'}
            <FieldPicker
              id={`study-${i}`}
              fields={fields}
              chosen={fields.find((field) => field.path === path)}
              none={isOfArms ? 'none: the arms as they are' : 'choose a field'}
              unknown={unknown}
              onField={(chosen) => change(i, { path: chosen, unknown: undefined })}
              onUnknown={(typed) => change(i, { path: '', unknown: typed })}
            />
          </div>
          <label>
            Its values
            <input
              data-testid={`study-values-${i}`}
              value={values}
              placeholder="0.001, 0.003 or 1e-4..1e-2 log 5"
              {...described(problems, `axis.${i}`)}
              onChange={({ target }) => change(i, { values: target.value })}
              onBlur={({ target }) => {
                if (target.value.trim() !== '') onLeave(i)
              }}
            />
            <Problem problems={problems} field={`axis.${i}`} />
          </label>
        </div>
      ))}
      <p className="study-buttons">
        <button
          type="button"
          data-testid="study-add-axis"
          disabled={draft.axes.length >= MOST_AXES}
          onClick={() => set({ axes: [...draft.axes, { path: '', values: '' }] })}
        >
          Another field
        </button>
        <button
          type="button"
          disabled={draft.axes.length < 2}
          onClick={() => set({ axes: draft.axes.slice(0, -1) })}
        >
          One field less
        </button>
      </p>
      <Kind {...props} />
    </>
  )
}

/** How the values of the fields are tried; without a field there is nothing to choose. */
function Kind(props: FieldProps) {
  const { draft, set } = props
  if (draft.kind === 'all' && draft.axes.every(({ path }) => path === '')) return null
  return (
    <div className="study-fields study-plan">
      <Choice
        label="Which of their values are tried"
        id="study-kind"
        value={draft.kind}
        options={KINDS}
        onChange={(kind) => set({ kind: kind as Draft['kind'] })}
      />
      <Search {...props} />
    </div>
  )
}

/** What a search draws, and what it keeps of it. */
function Search(props: FieldProps) {
  if (props.draft.kind === 'all') return null
  return (
    <>
      <Count label="Settings that are drawn, of each arm" name="settings" most={64} of={props} />
      <Count
        label="Settings that meet at the end, of each arm"
        name="finalists"
        most={8}
        of={props}
      />
      <Count label="Seeds that choose; the others judge" name="choosing" most={63} of={props} />
    </>
  )
}

export function StudyFields(props: FieldProps) {
  const { draft, set } = props
  // A study that is changed may measure what the form does not offer by itself.
  const [{ metric, at }] = useState(draft)
  return (
    <div className="study-fields study-plan">
      <Count label="Seeds" name="seeds" most={MOST_SEEDS} of={props}>
        {draft.seeds >= 1 && draft.seeds < FEWEST_PAIRS ? (
          <span className="soft" data-testid="study-few-seeds">
            Fewer than {FEWEST_PAIRS} cannot answer.
          </span>
        ) : null}
      </Count>
      <Choice
        label="Equal budget in"
        id="study-same"
        value={draft.same}
        options={{
          responses: 'responses',
          tokens: 'tokens',
          arithmetic: 'arithmetic',
          steps: 'steps',
        }}
        onChange={(same) => set({ same })}
      />
      <Choice
        label="Primary measure"
        id="study-metric"
        value={draft.metric}
        options={metric in METRICS ? METRICS : { ...METRICS, [metric]: measureWords(metric) }}
        onChange={(metric) => set({ metric })}
      />
      <Choice
        label="Measured"
        id="study-at"
        value={draft.at}
        options={{
          end: 'at the end',
          last: 'mean of the last five',
          area: 'mean over the budget',
          ...(at === 'first' && { first: 'at the first evaluation' }),
          ...(at === 'level' && { level: 'where another metric comes to a level' }),
        }}
        onChange={(at) => set({ at })}
      />
    </div>
  )
}

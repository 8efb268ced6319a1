// Builds a study: two or more settings or runs, or a field with several values; seeds, budget and
// the measure, fixed beforehand.
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import {
  type Draft,
  type DraftStudy,
  EMPTY_DRAFT,
  readDraft,
} from '../../../document/study/draft/draft.ts'
import { proposedQuestion } from '../../../document/study/draft/question.ts'
import type { Redraft } from '../../../document/study/draft/redraft.ts'
import type { Study } from '../../../document/study/study.ts'
import { libraryStore, shownRuns } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { presentSettings } from '../../../page/study/present_settings.ts'
import { changeStudy, setStudy } from '../../../page/study/study_store.ts'
import { t } from '../../kit/translator.ts'
import { selectionStore } from '../../runs/base/selection.ts'
import { NameShown } from '../../settings/Field.tsx'
import { useLab } from '../../shown/run.ts'
import { armsOfRuns, type ChosenArm, namedArms } from './arm_names.ts'
import { BaseOfStudy } from './BaseOfStudy.tsx'
import { useEstimateOfRuns } from './estimate_of_runs.ts'
import { endNewStudy, newStudyStore } from './new_study_store.ts'
import { NoPlan, PlanPreview } from './PlanPreview.tsx'
import { Axes, described, Problem, type Problems, StudyFields } from './StudyFields.tsx'

/** The ticked runs as arms. */
function tickedArms(): readonly ChosenArm[] {
  const { ticked } = selectionStore.getState()
  const runs = shownRuns(libraryStore.getState())
  return armsOfRuns(runs.filter(({ id }) => ticked.includes(id)))
}

/** The arms that were chosen so far, and ways to add some. */
function Arms(props: {
  readonly chosen: readonly ChosenArm[]
  readonly problems: Problems
  setChosen(chosen: readonly ChosenArm[]): void
}) {
  const { chosen, problems, setChosen } = props
  const add = (more: readonly ChosenArm[]) => setChosen([...chosen, ...more])
  const addPresent = () => add([{ name: '', experiment: presentSettings(labStore.getState()) }])
  const named = useMemo(() => namedArms(chosen), [chosen])
  const { ticked } = useStore(selectionStore)
  // Those that are arms already, as of a form that begins with them, are not added twice.
  const addTicked = () => {
    const known = new Set(chosen.map(({ experiment }) => JSON.stringify(experiment)))
    add(tickedArms().filter(({ experiment }) => !known.has(JSON.stringify(experiment))))
  }
  return (
    <div className="study-arms">
      <ol>
        {named.map(({ name }, i) => (
          <li key={`${chosen.length} ${i}`}>
            <input
              aria-label={`Name of arm ${i + 1}`}
              value={name}
              onChange={({ target }) =>
                setChosen(chosen.map((one, k) => (k === i ? { ...one, name: target.value } : one)))
              }
            />
            <button type="button" onClick={() => setChosen(chosen.filter((_, k) => k !== i))}>
              Take out
            </button>
            <NameShown path="name" value={name} />
          </li>
        ))}
      </ol>
      <p className="study-buttons">
        <button
          type="button"
          data-testid="study-add-settings"
          data-invalid={problems.has('arms')}
          aria-describedby={problems.has('arms') ? 'study-problem-arms' : undefined}
          onClick={addPresent}
        >
          Add the present settings
        </button>
        <button
          type="button"
          data-testid="study-add-runs"
          disabled={ticked.length === 0}
          title={ticked.length === 0 ? 'No run is ticked in the tab Runs' : undefined}
          onClick={addTicked}
        >
          {ticked.length === 0 ? 'Add ticked runs' : `Add the ticked runs (${ticked.length})`}
        </button>
      </p>
      <Problem problems={problems} field="arms" />
    </div>
  )
}

const WAYS = {
  values: {
    name: 'Values of a field',
    says: 'The present settings, once with each value. The first value is what the others are compared with.',
    ofBase:
      'What the study begins from, once with each value. The first value is what the others are compared with.',
  },
  arms: {
    name: 'Arms of your own',
    says: 'Change the settings and add them, one after the other, or tick runs in the tab Runs. The first arm is what the others are compared with.',
    ofBase:
      'Change the settings and add them, one after the other, or tick runs in the tab Runs. The arms are compared with the one that the study names, else with the first.',
  },
} as const

/** The two ways to say what is compared; the fields of one of them are there at a time. */
function Ways(props: {
  readonly way: Draft['way']
  /** It is of a study that has a base. */
  readonly hasBase: boolean
  set(change: Partial<Draft>): void
}) {
  const { way, hasBase, set } = props
  return (
    <div className="study-compared">
      {Object.entries(WAYS).map(([value, { name, says, ofBase }]) => (
        <label key={value}>
          <input
            type="radio"
            name="study-way"
            data-testid={`study-way-${value}`}
            checked={way === value}
            onChange={() => set({ way: value as Draft['way'] })}
          />
          <b>{name}</b>
          <span className="soft">{hasBase ? ofBase : says}</span>
        </label>
      ))}
    </div>
  )
}

/** Whoever ticked runs wants to compare them. */
const firstDraft = (): Draft => ({
  ...EMPTY_DRAFT,
  way: selectionStore.getState().ticked.length > 0 ? 'arms' : 'values',
})

const NO_PROBLEMS: Problems = new Map()

/** Fields that begin with a number. */
const FILLED: readonly string[] = ['seeds', 'settings', 'finalists', 'choosing']

/** Nothing is wrong with what nobody has filled in yet; values that were typed are checked when
 * they are left, the whole form once it was tried or had a plan, which a mistake takes away. */
const shownProblems = (all: Problems, isWhole: boolean, left: readonly number[]): Problems =>
  isWhole
    ? all
    : new Map(
        [...all].filter(
          ([field]) =>
            FILLED.includes(field) ||
            field.startsWith('field.') ||
            left.some((i) => field === `axis.${i}`),
        ),
      )

/** The form, and what brings the focus to its first control that something is wrong with. */
function useFirstProblem() {
  const form = useRef<HTMLDivElement>(null)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const first = form.current?.querySelector<HTMLElement>(
      ':is([aria-invalid="true"], [data-invalid="true"])',
    )
    if (tries > 0) first?.focus()
  }, [tries])
  return { form, wasTried: tries > 0, fail: () => setTries((count) => count + 1) }
}

/** Beside the button that was pressed. */
function NotMade({ problems }: { readonly problems: Problems }) {
  const count = problems.size
  return (
    <span className="bad" role="status" data-testid="study-not-made">
      {count === 0
        ? ''
        : `Not made yet: ${count === 1 ? 'one field above needs' : `${count} fields above need`} a change.`}
    </span>
  )
}

interface Changed {
  /** The study that is changed, and how the form begins with it. */
  readonly of: Study
  readonly from: Redraft
  /** The changed study is on the page. */
  onDone(): void
}

/** What the form says, and the study that it makes. */
function useDraft(changed: Changed | undefined) {
  const [{ draft, chosen }, setTyped] = useState(() =>
    changed
      ? { draft: changed.from.draft, chosen: changed.from.arms }
      : (newStudyStore.getState().typed ?? { draft: firstDraft(), chosen: tickedArms() }),
  )
  const [base, setBase] = useState(changed?.from.base)
  const present = useLab(presentSettings)
  const experiment = base ?? present
  const before = changed?.of
  // Making all arms for every letter would be slow.
  const typed = useDeferredValue(draft)
  const made = useMemo(
    () => readDraft(typed, namedArms(chosen), experiment, before),
    [typed, chosen, experiment, before],
  )
  const proposed = useMemo(() => {
    // A question asks about values that can be tried.
    const axes = typed.axes.filter((_, i) => made.ok || !made.problems.has(`axis.${i}`))
    const arms = typed.way === 'arms' ? namedArms(chosen) : []
    return proposedQuestion({ ...typed, axes }, arms, experiment)
  }, [typed, chosen, experiment, made])
  /** As it is typed by now. */
  const read = () => {
    const now = base ?? presentSettings(labStore.getState())
    return readDraft(draft, namedArms(chosen), now, before)
  }
  const keep = (typed: { readonly draft: Draft; readonly chosen: readonly ChosenArm[] }) => {
    setTyped(typed)
    if (!changed) newStudyStore.setState({ typed })
  }
  const set = (change: Partial<Draft>) => keep({ draft: { ...draft, ...change }, chosen })
  const setChosen = (arms: readonly ChosenArm[]) => keep({ draft, chosen: arms })
  return { draft, set, chosen, setChosen, base, setBase, made, way: typed.way, proposed, read }
}

interface QuestionProps {
  readonly draft: Draft
  readonly proposed: string
  readonly problems: Problems
  set(change: Partial<Draft>): void
}

function Question({ draft, proposed, problems, set }: QuestionProps) {
  return (
    <label className="wide">
      Question
      <input
        data-testid="study-question"
        value={draft.question ?? t(proposed)}
        maxLength={400}
        {...described(problems, 'question')}
        onChange={({ target }) => set({ question: target.value })}
        // A study has a question: that of its arms, where there is no other.
        onBlur={({ target }) => {
          if (target.value.trim() === '') set({ question: null })
        }}
      />
      <Problem problems={problems} field="question" />
    </label>
  )
}

type Planned = Extract<DraftStudy, { readonly ok: true }>

interface ShownPlan {
  readonly plan: Planned
  readonly way: Draft['way']
}

/** What the form plans; the plan before, while it says something that cannot be planned. The other
 * way to say what is compared begins without one: nothing is wrong with what nobody has typed. */
export function planAfter(
  before: ShownPlan | undefined,
  made: DraftStudy,
  way: Draft['way'],
): ShownPlan | undefined {
  if (!made.ok) return before?.way === way ? before : undefined
  return before?.plan === made ? before : { plan: made, way }
}

function usePlan(made: DraftStudy, way: Draft['way']): Planned | undefined {
  const [before, setBefore] = useState<ShownPlan>()
  const now = planAfter(before, made, way)
  if (now !== before) setBefore(now)
  return now?.plan
}

function Plan({ plan, isPast }: { readonly plan: Planned; readonly isPast: boolean }) {
  const experiments = useMemo(() => plan.arms.map(({ experiment }) => experiment), [plan])
  const time = useEstimateOfRuns(experiments, plan.runs)
  return <PlanPreview {...plan} time={time} isPast={isPast} />
}

/** Ends the study that is being made. */
function Discard({ onDiscard }: { readonly onDiscard: (() => void) | undefined }) {
  const hasTyped = useStore(newStudyStore, ({ typed }) => typed !== undefined)
  if (!hasTyped || !onDiscard) return null
  return (
    <button type="button" data-testid="study-discard" onClick={onDiscard}>
      Discard
    </button>
  )
}

interface FormProps {
  readonly changed?: Changed
  onDiscard?(): void
}

/** A new study; `changed`: another one of an open study. */
export function StudyForm({ changed, onDiscard }: FormProps) {
  const { draft, set, chosen, setChosen, base, setBase, made, way, proposed, read } =
    useDraft(changed)
  /** Fields whose values were typed and left. */
  const [left, setLeft] = useState<readonly number[]>([])
  const { form, wasTried, fail } = useFirstProblem()
  const plan = usePlan(made, way)
  const isWhole = wasTried || plan !== undefined
  const problems = made.ok ? NO_PROBLEMS : shownProblems(made.problems, isWhole, left)
  const make = () => {
    const now = read()
    if (!now.ok) fail()
    else if (changed) {
      changeStudy(now.study)
      changed.onDone()
    } else {
      endNewStudy()
      setStudy(now.study)
    }
  }
  return (
    <div id="study-form" className="study-form" data-testid="study-form" ref={form}>
      <Question draft={draft} proposed={proposed} problems={problems} set={set} />
      {base && changed ? <BaseOfStudy of={changed.of} base={base} onBase={setBase} /> : null}
      <fieldset>
        <legend>What is compared</legend>
        <Ways way={draft.way} hasBase={changed !== undefined} set={set} />
        {draft.way === 'arms' ? (
          <Arms chosen={chosen} problems={problems} setChosen={setChosen} />
        ) : null}
        <Axes
          draft={draft}
          problems={problems}
          base={base}
          set={set}
          onLeave={(i) => setLeft((before) => [...before, i])}
        />
      </fieldset>
      <StudyFields draft={draft} problems={problems} set={set} />
      {plan ? <Plan plan={plan} isPast={!made.ok} /> : <NoPlan />}
      <Problem problems={problems} field="form" />
      <p className="study-buttons">
        <button
          type="button"
          className={made.ok ? 'primary' : ''}
          data-testid="study-make"
          onClick={make}
        >
          {changed ? 'Change the study' : 'Make the study'}
        </button>
        {changed ? (
          <button type="button" data-testid="study-keep" onClick={changed.onDone}>
            Leave it as it is
          </button>
        ) : (
          <Discard onDiscard={onDiscard} />
        )}
        <NotMade problems={wasTried ? problems : NO_PROBLEMS} />
      </p>
    </div>
  )
}

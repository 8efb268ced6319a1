// Shows what goes wrong in the current phase: the numbers, what they mean, and the two settings
// most likely to help.
import { CircleAlert, TriangleAlert, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { restart, train } from '../../page/client/controls.ts'
import type { LabState } from '../../page/state/store.ts'
import { type Diagnosis, diagnose } from '../../record/diagnosis/diagnosis.ts'
import type { Advice } from '../../record/diagnosis/finding.ts'
import { Words } from '../glossary/Words.tsx'
import { showSetting } from '../open/wanted.ts'
import { type FieldData, shownFields } from '../settings/form.ts'
import { useSlowFrame } from '../shown/readout.ts'
import { selectIsBusy, selectIsEdited, shownExperiment, useLab } from '../shown/run.ts'
import { presentStore, useIsImported, usePresent } from '../shown/shown.ts'
import { type Dismissed, eachOnce, shownFindings, withDismissed } from './findings.ts'

const selectRun = (state: LabState) => state.run
const selectSwitches = (state: LabState) => state.phase_switches
const selectSettings = (state: LabState) => state.experiment

/** What a run suffers from it suffers from for many steps. */
const LOOK_MS = 1000

/** The findings of the current phase, looked for once a second while there are new steps; none of a
 * log, as they rest on settings too, which it does not say. */
function useFindings(run: number): readonly Diagnosis[] {
  useSlowFrame(LOOK_MS)
  const { step } = presentStore.getState()
  const switches = usePresent(selectSwitches)
  const shown = usePresent(shownExperiment)
  const fromLog = useIsImported()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns are mutable; run and step are their version.
  return useMemo(() => {
    const current = switches.at(-1)
    if (!current || fromLog) return []
    const { series } = presentStore.getState()
    const view = { experiment: shown, phase: current.phase, phaseStart: current.step, series }
    return diagnose(view)
  }, [run, step, switches, shown, fromLog])
}

/** The setting's own name as a link to it; its path alone where the form has no such field now. */
function Setting({ advice, field }: { advice: Advice; field: FieldData | undefined }) {
  const { path, text } = advice
  return (
    <li>
      {field ? (
        <button
          type="button"
          className="plain setting-link"
          data-path={path}
          title={`Show ${path} in the settings`}
          onClick={() => showSetting(path)}
        >
          {field.group}: {field.label}
        </button>
      ) : (
        <code>{path}</code>
      )}{' '}
      {text}
    </li>
  )
}

/** Every setting that is likely to help, once, with what each finding says of it; and the way to
 * train with the changes. */
function Remedies(props: {
  readonly found: readonly Diagnosis[]
  readonly fields: ReadonlyMap<string, FieldData>
}) {
  const { found, fields } = props
  const isBusy = useLab(selectIsBusy)
  const isEdited = useLab(selectIsEdited)
  return (
    <div className="remedies">
      <h3>What may help</h3>
      <ul className="advice">
        {eachOnce(found).map((advice) => (
          <Setting key={advice.path} advice={advice} field={fields.get(advice.path)} />
        ))}
      </ul>
      <button
        type="button"
        data-testid="apply-remedies"
        disabled={!isEdited}
        title={isEdited ? 'Trains with the settings as they are now' : 'Change a setting first'}
        onClick={() => (isBusy ? restart() : train())}
      >
        Apply and restart
      </button>
    </div>
  )
}

interface FindingProps {
  readonly finding: Diagnosis
  readonly onDismiss: () => void
}

function Finding({ finding, onDismiss }: FindingProps) {
  const { name, title, evidence, meaning, is_severe } = finding
  const Icon = is_severe ? CircleAlert : TriangleAlert
  return (
    <li
      className={is_severe ? 'finding severe' : 'finding'}
      data-testid={`finding-${name}`}
      data-severe={is_severe}
    >
      <Icon className="icon" aria-hidden="true" />
      <div>
        <h3>
          {is_severe ? <span className="visually-hidden">Severe: </span> : null}
          {title}
        </h3>
        <p className="evidence">{evidence}</p>
        <p className="soft">
          <Words text={meaning} />
        </p>
      </div>
      <button
        type="button"
        className="plain"
        aria-label={`Dismiss: ${title}`}
        title="Dismiss until it gets worse"
        onClick={onDismiss}
      >
        <X className="icon" aria-hidden="true" />
      </button>
    </li>
  )
}

export function Findings() {
  const run = usePresent(selectRun)
  const settings = useLab(selectSettings)
  const [dismissed, setDismissed] = useState<Dismissed>(new Map())
  const found = shownFindings(useFindings(run), run, dismissed)
  const fields = useMemo(
    () => new Map(shownFields(settings).map((field) => [field.path, field])),
    [settings],
  )
  return (
    <>
      {/* Numbers change with every step; only a new finding is worth a word. */}
      <p className="visually-hidden" aria-live="polite" data-testid="findings-said">
        {found.map(({ title }) => `${title}.`).join(' ')}
      </p>
      {found.length === 0 ? null : (
        <section className="card findings" aria-labelledby="findings-title" data-testid="findings">
          <h2 id="findings-title" className="visually-hidden">
            Findings
          </h2>
          <details data-testid="findings-strip">
            <summary className={found[0].is_severe ? 'severe' : ''}>
              <TriangleAlert className="icon" aria-hidden="true" />
              <span>{found.map(({ title }) => title).join(' · ')}</span>
            </summary>
            <ul>
              {found.map((finding) => (
                <Finding
                  key={finding.name}
                  finding={finding}
                  onDismiss={() => setDismissed((before) => withDismissed(before, run, finding))}
                />
              ))}
            </ul>
            <Remedies found={found} fields={fields} />
          </details>
        </section>
      )}
    </>
  )
}

// Draws the choice of a system: each with what it is, and why it cannot run this experiment where
// it cannot.
import type { VerlVersion } from '../../../jobs/settings/setting.ts'
import { Words } from '../../glossary/Words.tsx'
import { type Format, formatsOf, type Outcome, outcomeOf, type Plan, pageWords } from './plan.ts'
import type { PageSource } from './sources.ts'

const NAMES: Readonly<Record<Format, readonly [name: string, says: string]>> = {
  hf: ['Hugging Face model', 'a folder that transformers loads, an adapter merged'],
  peft: ['PEFT adapter', 'the adapter as PEFT loads it, with its model in base/'],
  verl: ['verl', 'a job with model, problems, reward and start scripts'],
  bupo: ['BuPO’s fork of verl', 'an inner layer first, then the whole model'],
  trl: ['TRL', 'one Python file and a notebook; a CPU will do'],
  notebook: ['Notebook', 'the metrics as a table, and a notebook that draws them with pandas'],
}

const VERSIONS: Readonly<Record<VerlVersion, string>> = {
  '0.9': '0.9 or later',
  '0.7': '0.7, with the older names',
}

interface Props {
  readonly source: PageSource
  readonly plan: Plan
  readonly onPlan: (change: Partial<Plan>) => void
}

export function TargetChoice({ source, plan, onPlan }: Props) {
  return (
    <fieldset>
      <legend>For</legend>
      {formatsOf(source).map((format) => (
        <Target key={format} format={format} source={source} plan={plan} onPlan={onPlan} />
      ))}
    </fieldset>
  )
}

function Target({ format, source, plan, onPlan }: Props & { readonly format: Format }) {
  // The toy's own job: what a scale does not allow is said beside the scale.
  const outcome = outcomeOf(source, { ...plan, format, cluster: undefined })
  const [name, says] = NAMES[format]
  const isChosen = plan.format === format
  return (
    <div className="export-target" data-refused={'refused' in outcome || undefined}>
      <label>
        <input
          type="radio"
          name="export-format"
          data-testid={`export-to-${format}`}
          checked={isChosen}
          onChange={() => onPlan({ format })}
        />
        <span>
          <strong>{name}</strong> <span className="soft">{says}</span>
          {'refused' in outcome ? (
            <>
              {' '}
              <span className="badge warn">not possible</span>
            </>
          ) : null}
        </span>
      </label>
      {format === 'verl' && isChosen ? (
        <label className="export-version">
          <span>Version</span>
          <select
            data-testid="export-verl"
            value={plan.verl}
            onChange={({ target }) => onPlan({ verl: target.value === '0.7' ? '0.7' : '0.9' })}
          >
            {Object.entries(VERSIONS).map(([version, words]) => (
              <option key={version} value={version}>
                {words}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {'refused' in outcome ? <Refusal text={outcome.refused} isChosen={isChosen} /> : null}
    </div>
  )
}

function Refusal({ text, isChosen }: { readonly text: string; readonly isChosen: boolean }) {
  return (
    <p className={isChosen ? 'export-refused' : 'export-why soft'} data-testid="export-refused">
      {text}
    </p>
  )
}

/** What to know before the start, and which settings stay behind. */
export function Notes({ outcome, format }: { readonly outcome: Outcome; readonly format: Format }) {
  if ('refused' in outcome || !outcome.check) return null
  const { warnings, lost } = outcome.check
  return (
    <>
      {warnings.length > 0 ? (
        <ul className="export-notes" data-testid="export-warnings" aria-label="Before you start it">
          {warnings.map((warning) => (
            <li key={warning}>
              <Words text={pageWords(warning)} />
            </li>
          ))}
        </ul>
      ) : null}
      {lost.length > 0 ? (
        <details data-testid="export-lost">
          <summary>
            {lost.length} {lost.length === 1 ? 'setting has' : 'settings have'} no counterpart in{' '}
            {NAMES[format][0]}
          </summary>
          <ul className="export-notes soft">
            {lost.map(({ path, why }) => (
              <li key={path}>
                <code>{path}</code>: {why}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </>
  )
}

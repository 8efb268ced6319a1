// Offers a study of a run and its control: one seed of each tells little.
import { FlaskConical } from 'lucide-react'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { EMPTY_DRAFT, readDraft } from '../../document/study/draft/draft.ts'
import { openStudy, setStudy } from '../../page/study/study_store.ts'
import { openTab, showToast } from '../shown/store.ts'
import { namedArms } from '../study/form/arm_names.ts'
import { useEstimateOfRuns } from '../study/form/estimate_of_runs.ts'

const DRAFT = { ...EMPTY_DRAFT, way: 'arms' } as const

/** The study of these settings, the first of which the others are compared with, with as many seeds
 * as a new one has. */
export const studyOfBoth = (both: readonly Experiment[]) =>
  readDraft(DRAFT, namedArms(both.map((experiment) => ({ name: '', experiment }))), both[0])

async function make(both: readonly Experiment[]): Promise<void> {
  const made = studyOfBoth(both)
  if (!made.ok) return showToast([...made.problems.values()].flat().join(' '))
  await openStudy()
  setStudy(made.study)
  openTab('study')
}

/** The button, with what all its runs take. */
export function StudyOfBoth({ both }: { readonly both: readonly Experiment[] }) {
  const { seeds } = DRAFT
  const time = useEstimateOfRuns(both, both.length * seeds)
  return (
    <button
      type="button"
      className="primary"
      data-testid="study-of-both"
      title="Opens it in the tab Study, where Train begins it"
      onClick={() => void make(both).catch((error: Error) => showToast(error.message))}
    >
      <FlaskConical className="icon" aria-hidden="true" /> Make a study of both, {seeds} seeds
      {time === undefined ? '' : ` (${time})`}
    </button>
  )
}
